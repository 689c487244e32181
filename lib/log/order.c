/* SPDX-License-Identifier: MIT */
#include "log/order.h"

#define SWAPPED_ORDER 0x0201 /* what byte_order is on the other machine */

/* Reverse the bytes of `nr` numbers of this size, which are neighbours. */
static void swap_each(void *numbers, size_t nr, size_t size)
{
	unsigned char *at = numbers;

	for (; nr > 0; nr--, at += size)
		for (size_t i = 0; i < size / 2; i++) {
			unsigned char byte = at[i];

			at[i] = at[size - 1 - i];
			at[size - 1 - i] = byte;
		}
}

/* The same for the members of a structure from this one on. */
#define SWAP(of, type, first, nr) \
	swap_each((unsigned char *)(of) + offsetof(struct type, first), (nr), sizeof((of)->first))

void px_order_words(uint32_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		words[i] = __builtin_bswap32(words[i]);
}

bool px_log_is_swapped(const struct px_log_header *header)
{
	return header->machine.byte_order == SWAPPED_ORDER;
}

void px_order_image(struct px_txtb_header *image)
{
	SWAP(image, px_txtb_header, id, 4);
	SWAP(image, px_txtb_header, name_size, 1);
	SWAP(image, px_txtb_header, registry_end, 7);
}

void px_order_settle_times(struct px_attr *attr)
{
	attr->create_time.ns &= UINT32_MAX;
	attr->clock_resolution.ns &= UINT32_MAX;
}

/* The members after the policies are smaller, but their order is that of the bytes of two words. */
static void swap_attr(struct px_attr *attr)
{
	SWAP(attr, px_attr, magic, 1);
	SWAP(attr, px_attr, create_time.s, 7); /* both times, and the three sizes */
	SWAP(attr, px_attr, stream_policy, 4);
}

/* byte_order stays as it is, and says what the writer had. */
void px_order_header(struct px_log_header *header)
{
	SWAP(header, px_log_header, magic, 1);
	SWAP(header, px_log_header, version, 2);
	SWAP(header, px_log_header, machine.of_attr, 1);
	SWAP(header, px_log_header, nr_entries, 6);
	SWAP(header, px_log_header, writer_start, 3);
	swap_attr(&header->attr);
	SWAP(header, px_log_header, nr_thread_slots, 4);
	SWAP(header, px_log_header, volume_max, 2);
	SWAP(header, px_log_header, is_tight, 1);
}

void px_order_commit(struct px_log_commit *commit)
{
	SWAP(commit, px_log_commit, serial, 10);
	SWAP(commit, px_log_commit, nr_names, 10);
	SWAP(commit, px_log_commit, first_frame, 6);
	SWAP(commit, px_log_commit, nr_clears, 2);
	SWAP(commit, px_log_commit, clocks.nr_readings, offsetof(struct px_log_clocks, nr_runs) / sizeof(uint64_t));
	SWAP(commit, px_log_commit, clocks.nr_runs, 2);
}

void px_order_footer(struct px_log_footer *footer)
{
	SWAP(footer, px_log_footer, magic, 3);
}

void px_order_frame(struct px_log_frame *frame)
{
	SWAP(frame, px_log_frame, magic, 2);
	SWAP(frame, px_log_frame, position, 2);
	SWAP(frame, px_log_frame, nr_entries, 6);
}

void px_order_object(struct px_txtb_object *object)
{
	SWAP(object, px_txtb_object, handle, 3);
}

void px_order_entries(struct px_txtb_entry *entries, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		SWAP(&entries[i], px_txtb_entry, context, 4);
}

void px_order_name(struct px_log_name *name)
{
	SWAP(name, px_log_name, id, 1);
}

void px_order_wrapper(struct px_wrapper_sum *sum)
{
	SWAP(sum, px_wrapper_sum, call, 2);
	SWAP(sum, px_wrapper_sum, calls, 3);
}

/* No machine has padding here, and the same offsets hold on all of them. */
#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #type " " #member)
AT(px_log_header, machine, 16);
AT(px_log_header, nr_entries, 64);
AT(px_log_header, tick_ns, 84);
AT(px_log_header, writer_start, 88);
AT(px_log_header, attr, 216);
AT(px_log_commit, nr_lost, 72);
AT(px_log_commit, nr_names, 80);
AT(px_log_commit, flush_error, 104);
AT(px_log_commit, nr_unlisted, 116);
AT(px_log_commit, first_frame, 120);
AT(px_log_commit, nr_given_up, 160);
AT(px_log_commit, sum, 172);
AT(px_log_commit, clocks, 176);
AT(px_log_clocks, run, 8);
AT(px_log_clocks, nr_runs, 248);
_Static_assert(sizeof(struct px_log_commit) == 432, "the same on all machines");
AT(px_log_header, volume_max, 440);
_Static_assert(sizeof(struct px_log_header) == 464, "the same on all machines");
AT(px_txtb_entry, stamp, 12);
AT(px_txtb_object, parameter2, 12);
_Static_assert(sizeof(struct px_log_footer) == 40, "the same on all machines");
