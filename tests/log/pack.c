/* SPDX-License-Identifier: MIT */
/*
 * Frames: that unpacking returns all that was packed, how many bytes it takes, and that a damaged frame is read only
 * within its bytes.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>

#include "log/pack.h"
#include "log/unpack.h"

#define ENTRIES 4096
#define DATA_MAX 5000
#define TICK_NS 100
#define HANDLE 0x01000000u

/* The test's own copy of an entry. */
struct given {
	bool is_event;
	uint32_t context;
	struct px_pack_event event;
	unsigned char data[DATA_MAX];
};

static struct given *given;
static struct px_txtb_entry *entries;
static struct px_pack *pack;
static struct px_unpack *unpack;
static uint64_t ticks, base_ns;

static void setup(void)
{
	given = calloc(ENTRIES, sizeof(*given));
	entries = calloc(ENTRIES, sizeof(*entries));
	pack = px_pack_make(ENTRIES, DATA_MAX);
	unpack = px_unpack_make(false);
	ck_assert(given && entries && pack && unpack);
	ticks = UINT32_MAX - 5000; /* the stamps wrap */
	base_ns = UINT64_C(1700000000000000000);
}

static void teardown(void)
{
	free(given);
	free(entries);
	px_pack_free(pack);
	px_unpack_free(unpack);
}

static struct px_log_object object_of(uint32_t handle)
{
	struct px_log_object object = {.object = {.handle = handle,
						  .type = handle >> 24,
						  .priority = handle % 1024,
						  .pid = 1000 + handle % 7,
						  .tid = 2000 + handle,
						  .thread = UINT64_C(0x7f0000000000) + handle},
				       .address = UINT64_C(0xffff00000000) + handle,
				       .site = handle % 3 ? UINT64_MAX - handle : 0};

	snprintf(object.object.name, sizeof(object.object.name), "%.*s %x", (int)(handle % 50),
		 "a name as long as the number of the handle asks for, or so", handle);
	return object;
}

static void add_event(uint32_t i, const struct px_pack_event *event, uint32_t context,
		      uint64_t step)
{
	struct px_txtb_entry *entry = &entries[i];
	struct px_log_object object = object_of(context);

	given[i].is_event = true;
	given[i].context = context;
	given[i].event = *event;
	if (event->length)
		memcpy(given[i].data, event->data, event->length);
	ticks += step;
	entry->context = context;
	entry->stamp = (uint32_t)ticks;
	memset(entry->info, 0xEE, sizeof(entry->info));
	if (!event->is_native && event->length)
		memcpy(entry->info, event->data, event->length < 16 ? event->length : 16);
	if (!px_pack_has_object(pack, context))
		px_pack_object(pack, &object);
	px_pack_event(pack,
		      (struct px_pack_stamp){ticks * TICK_NS, base_ns + ticks * TICK_NS}, event);
}

static void add_viewer_entry(uint32_t i)
{
	given[i].is_event = false;
	ticks++;
	entries[i].context = HANDLE;
	entries[i].stamp = (uint32_t)ticks;
	px_pack_viewer_entry(pack, (struct px_pack_stamp){ticks * TICK_NS, base_ns + ticks * TICK_NS});
}

static struct px_log_frame head_of(const void *bytes)
{
	struct px_log_frame frame;

	memcpy(&frame, bytes, sizeof(frame));
	return frame;
}

/* Unpack a frame that begins at position 0.  Return the number of entries that are whole. */
static uint32_t unpack_whole(const void *bytes, struct px_unpacked *got)
{
	struct px_log_frame frame = head_of(bytes);

	return px_unpack_frame(unpack, &frame, (const char *)bytes + sizeof(frame), entries, TICK_NS, got);
}

/* Compare the content of a frame with the test's own copy. */
static void expect_given(const void *bytes, size_t size, uint64_t position, uint32_t count)
{
	struct px_log_frame frame = head_of(bytes);
	const char *body = (const char *)bytes + sizeof(frame);
	struct px_unpacked *got = calloc(count, sizeof(*got));

	ck_assert_ptr_nonnull(got);
	ck_assert(px_unpack_is_frame(&frame, position, count, size - sizeof(frame)));
	ck_assert_uint_eq(frame.nr_entries, count);
	ck_assert_uint_eq(sizeof(frame) + frame.objects + frame.records, size);
	ck_assert_uint_eq(px_unpack_frame(unpack, &frame, body, entries, TICK_NS, got), count);
	for (uint32_t i = 0; i < count; i++) {
		const struct px_pack_event *event = &given[i].event;
		size_t first = event->length < 16 ? event->length : 16;
		struct px_log_object object = object_of(given[i].context);

		ck_assert_int_eq(got[i].is_event, given[i].is_event);
		if (!given[i].is_event)
			continue;
		ck_assert_uint_eq(got[i].time_ns, event->time_ns);
		ck_assert_uint_eq(got[i].address, event->address);
		ck_assert_uint_eq(got[i].id, event->id);
		ck_assert_uint_eq(got[i].flags, event->flags);
		ck_assert_uint_eq(got[i].length, event->length);
		ck_assert_int_eq(got[i].is_native, event->is_native);
		ck_assert_uint_eq(got[i].pid, event->is_other ? event->pid : object.object.pid);
		ck_assert_uint_eq(got[i].thread,
				  event->is_other ? event->thread : object.object.thread);
		ck_assert_mem_eq(got[i].first, given[i].data, first);
		if (event->length > 16)
			ck_assert_mem_eq(got[i].more, given[i].data + 16, event->length - 16);
		ck_assert_mem_eq(px_unpack_object(unpack, given[i].context), &object,
				 sizeof(object));
	}
	free(got);
}

/*
 * Make an event: from few call sites or many, of any length, early, late, or of a thread that is not that of the
 * context.
 */
static void add_random(uint32_t i, uint64_t *random, uint32_t nr_sites)
{
	unsigned char data[DATA_MAX];
	uint64_t any = next_random(random);
	uint32_t site = (uint32_t)(next_random(random) % nr_sites);
	struct px_pack_event event = {.address = UINT64_C(0x555500000000) + site * 16,
				      .id = 5 + site % 2000,
				      .flags = site % 16,
				      .is_native = site % 3 == 0,
				      .is_other = any % 50 == 0,
				      .pid = (uint32_t)(any >> 13),
				      .thread = any * 3,
				      .data = data};
	uint64_t step = any % 20 ? any % 300 : any % (1 << 30);

	event.length = any % 4 ? site % 17 : (uint32_t)(next_random(random) % DATA_MAX);
	if (event.is_native && event.length < 16)
		event.length = 16;
	for (uint32_t k = 0; k < event.length; k++)
		data[k] = (unsigned char)(k % 4 ? 0 : next_random(random));
	/* Long data of calls often begin like earlier data. */
	if (event.length > 16 && any % 3)
		memset(data + 16, 'a', event.length - 16 < any % 200 ? event.length - 16 : any % 200);
	event.time_ns = base_ns + (ticks + step) * TICK_NS + any % TICK_NS;
	if (any % 30 == 0)
		event.time_ns -= any % 1000000; /* an OVERFLOW may have this */
	add_event(i, &event, HANDLE + (uint32_t)(any % 9000), step);
}

/* Stacks: one, few, or more than fit into the table of a chapter. */
START_TEST(pack_of_stacks_comes_back_and_has_each_stack_once)
{
	static const uint32_t nr_stacks[] = {1, 30, 3000};
	uint64_t random = test_seed();
	enum { EVENTS = 1000 };

	for (size_t k = 0; k < 3; k++) {
		size_t size = 0, first_size = 0;

		for (uint32_t frame = 0; frame < 3; frame++) {
			const void *bytes;

			px_pack_begin(pack, frame * EVENTS, frame == 0);
			for (uint32_t i = 0; i < EVENTS; i++) {
				unsigned char data[272];
				uint32_t any = (uint32_t)(next_random(&random) % nr_stacks[k]);
				struct px_pack_event event = {.address = 0x5000,
							      .id = 300,
							      .is_kept = true,
							      .is_native = any % 2,
							      .length = 24 + any % 32 * 8,
							      .time_ns = base_ns + (ticks + 1) * TICK_NS,
							      .data = data};

				for (uint32_t b = 0; b < event.length; b++)
					data[b] = (unsigned char)(any * 7 + b * (any >> 3));
				add_event(i, &event, HANDLE, 1);
			}
			bytes = px_pack_end(pack, &size);
			first_size = frame == 0 ? size : first_size;
			expect_given(bytes, size, frame * EVENTS, EVENTS);
		}
		/* A later frame of the chapter has only the number of a stack. */
		if (nr_stacks[k] <= 30)
			ck_assert_uint_lt(size, EVENTS * 16 + 1024);
		ck_assert_uint_le(size, first_size);
	}
}
END_TEST

/* The number of a stack that is not in the chapter. */
START_TEST(pack_of_a_stack_that_is_missing_is_damaged)
{
	unsigned char data[64] = {1};
	struct px_pack_event event = {
		.address = 0x5000, .id = 300, .is_kept = true, .length = sizeof(data), .data = data};
	struct px_unpacked got[2];
	const unsigned char *bytes;
	size_t size;

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < 2; i++) {
		event.time_ns = base_ns + (ticks + 1) * TICK_NS;
		add_event(i, &event, HANDLE, 1);
	}
	bytes = px_pack_end(pack, &size);
	ck_assert_uint_eq(bytes[size - 1], PX_FRAME_KEPT_FIRST); /* the second event has the stack of the first one */
	for (unsigned int number = 0; number < 128; number++) {
		unsigned char *copy = malloc(size);
		struct px_log_frame frame;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, bytes, size);
		copy[size - 1] = (unsigned char)number;
		frame = head_of(copy);
		frame.sum = px_frame_sum_of(&frame, copy + sizeof(frame), false);
		ck_assert_uint_eq(px_unpack_frame(unpack, &frame, copy + sizeof(frame), entries, TICK_NS, got),
				  number == PX_FRAME_KEPT_FIRST ? 2 : 1);
		free(copy);
	}
}
END_TEST

typedef void add_entry_fn(uint32_t i, uint64_t *random, uint32_t nr_sites);

/* Make a frame at this position, as full as possible, and read it.  Return the position after it. */
static uint64_t fill_frame(uint64_t position, bool chapter, add_entry_fn *add, uint64_t *random,
			   uint32_t nr_sites)
{
	uint32_t count = 0;
	const void *bytes;
	size_t size;

	px_pack_begin(pack, position, chapter);
	while (count < ENTRIES && px_pack_has_room(pack, DATA_MAX))
		add(count++, random, nr_sites);
	bytes = px_pack_end(pack, &size);
	expect_given(bytes, size, position, count);
	return position + count;
}

static void add_any(uint32_t i, uint64_t *random, uint32_t nr_sites)
{
	if (next_random(random) % 10)
		add_random(i, random, nr_sites);
	else
		add_viewer_entry(i);
}

START_TEST(pack_of_all_that_can_be_comes_back)
{
	uint64_t random = test_seed();
	uint64_t position = 12345;

	for (uint32_t round = 0; round < 60; round++)
		position = fill_frame(position, round % 5 == 0 || px_pack_wants_chapter(pack), add_any, &random,
				      round % 4 == 3 ? 60000 : round % 4 == 2 ? 300 : 3);
}
END_TEST

/* The image shortens a gap, and the clock was set: the times are still exact. */
START_TEST(pack_time_that_the_stamps_do_not_show_comes_back)
{
	static const int64_t jump[] = {0,	 1, 99, 100, 254, 255, 256, -1, -100, 1000000000000,
				       -1000000000000, INT64_MIN / 2, INT64_MAX / 2, 5};
	const void *bytes;
	size_t size;

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(jump); i++) {
		struct px_pack_event event = {.id = 20,
					      .time_ns = base_ns + (ticks + 7) * TICK_NS +
							 (uint64_t)jump[i]};

		add_event(i, &event, HANDLE, 7);
	}
	bytes = px_pack_end(pack, &size);
	expect_given(bytes, size, 0, PX_ARRAY_SIZE(jump));
}
END_TEST

/* The frame has all entries, and takes fewer bytes than this for each. */
static void expect_bytes_each(size_t most)
{
	size_t size;
	const void *bytes = px_pack_end(pack, &size);

	expect_given(bytes, size, 0, ENTRIES);
	ck_assert_uint_lt(size, most * ENTRIES);
}

/* Usual events of 16 bytes, from a few call sites and threads. */
START_TEST(pack_of_usual_events_takes_three_bytes_each)
{
	uint64_t random = test_seed();
	uint64_t data[2] = {0};

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint64_t any = next_random(&random);
		struct px_pack_event event = {.address = 0x555500001000 + any % 40 * 32,
					      .id = 30 + (uint32_t)(any % 40),
					      .time_ns = base_ns + (ticks + 20) * TICK_NS + any % 100,
					      .length = sizeof(data),
					      .data = data};

		data[0] = any;
		add_event(i, &event, HANDLE + any % 8, 20);
	}
	expect_bytes_each(3);
}
END_TEST

/* Calls as in a server: each has the address of one of a few locks, and a result. */
START_TEST(pack_of_calls_takes_five_bytes_each)
{
	uint64_t random = test_seed();

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint64_t any = next_random(&random);
		uint32_t site = (uint32_t)(any % 60);
		uint32_t data[4] = {(uint32_t)(0x1000 + (site % 20 + (any >> 20) % 4) * 64), 0x7f12,
				    0, site % 10 ? 0 : (uint32_t)(any >> 30) % 500};
		struct px_pack_event event = {.address = 0x7f1200001000 + site * 56,
					      .id = 30 + site % 12,
					      .flags = 8,
					      .is_native = true,
					      .time_ns = base_ns + (ticks + 20) * TICK_NS + any % 100,
					      .length = sizeof(data),
					      .data = data};

		add_event(i, &event, HANDLE + any % 8, 20);
	}
	expect_bytes_each(5);
}
END_TEST

static void add_of_many(uint32_t i, uint64_t *random, uint32_t nr_sites)
{
	uint64_t any = next_random(random);
	struct px_pack_event event = {.address = any % nr_sites * 16,
				      .id = 5,
				      .time_ns = base_ns + (ticks + 1) * TICK_NS};

	add_event(i, &event, HANDLE + any % 20000, 1);
}

/* More call sites and objects in a chapter than its tables hold: each frame still has all that it needs. */
START_TEST(pack_with_full_tables_comes_back)
{
	uint64_t random = test_seed();
	uint64_t position = 0;

	for (uint32_t round = 0; round < 12; round++)
		position = fill_frame(position, round == 0, add_of_many, &random, 8000);
	ck_assert(px_pack_wants_chapter(pack));
}
END_TEST

/* Call number i of a program that opens files one after another; their names have this many digits. */
static void add_open(uint32_t i, const char *directory, int nr_digits)
{
	unsigned char data[DATA_MAX] = {3};
	struct px_pack_event event = {.address = 0x7f1200001000,
				      .id = 30,
				      .flags = 8,
				      .is_native = true,
				      .time_ns = base_ns + (ticks + 20) * TICK_NS,
				      .data = data};

	event.length = 16 + (uint32_t)snprintf((char *)data + 16, sizeof(data) - 16, "%s/%0*u", directory,
					       nr_digits, i);
	add_event(i, &event, HANDLE, 20);
}

START_TEST(pack_of_paths_takes_their_differences)
{
	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < ENTRIES; i++)
		add_open(i, "/usr/lib/x86_64-linux-gnu/a-directory", 1);
	expect_bytes_each(10);
}
END_TEST

/* Data that share bytes need memory when they are read, so a frame has only a bounded number of them. */
START_TEST(pack_of_paths_needs_bounded_memory)
{
	static const int nr_digits[] = {2000, 60, 4900};
	const void *bytes;
	size_t size;
	uint32_t count = 0;

	px_pack_begin(pack, 0, true);
	while (count < ENTRIES && px_pack_has_room(pack, DATA_MAX))
		add_open(count++, "", nr_digits[_i]);
	bytes = px_pack_end(pack, &size);
	expect_given(bytes, size, 0, count);
	ck_assert_uint_gt(count, 50);
}
END_TEST

/* Place a frame at the end of its memory, so that a sanitizer finds an access beyond it. */
static void *new_copy(const void *bytes, size_t size)
{
	void *copy = malloc(size);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, size);
	return copy;
}

static void read_damaged(const void *bytes, size_t size)
{
	struct px_log_frame frame = head_of(bytes);
	unsigned char *body = new_copy((const char *)bytes + sizeof(frame), size - sizeof(frame));
	struct px_unpacked *got;
	uint32_t count, sum = 0;

	if (px_unpack_is_frame(&frame, frame.position, ENTRIES, size - sizeof(frame))) {
		frame.sum = px_frame_sum_of(&frame, body, false);
		got = calloc(frame.nr_entries, sizeof(*got));
		ck_assert_ptr_nonnull(got);
		count = px_unpack_frame(unpack, &frame, body, entries, TICK_NS, got);
		ck_assert_uint_le(count, frame.nr_entries);
		for (uint32_t i = 0; i < count; i++) {
			const unsigned char *first = got[i].first, *more = got[i].more;

			if (!got[i].is_event)
				continue;
			for (uint32_t k = 0; k < got[i].length; k++)
				sum += k < 16 ? first[k] : more[k - 16];
		}
		free(got);
	}
	free(body);
	ck_assert_uint_ge(sum + 1, 0); /* the reader has read the bytes */
}

/* A frame of random events, in memory of its own size. */
static unsigned char *new_frame(uint32_t count, uint64_t *random, size_t *size)
{
	const void *packed;

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < count; i++)
		add_random(i, random, 9);
	packed = px_pack_end(pack, size);
	return new_copy(packed, *size);
}

START_TEST(unpack_of_damage_stays_within_the_frame)
{
	uint64_t random = test_seed();
	unsigned char *bytes;
	size_t size;

	bytes = new_frame(60, &random, &size);
	for (uint32_t round = 0; round < (px_test_is_whole() ? 200000u : 10000u); round++) {
		unsigned char *copy = new_copy(bytes, size);
		uint32_t nr_changes = 1 + next_random(&random) % 4;
		size_t limit = round % 2 ? size : sizeof(struct px_log_frame) + 2000;

		while (nr_changes--)
			copy[next_random(&random) % (limit < size ? limit : size)] =
				(unsigned char)next_random(&random);
		read_damaged(copy, round % 3 ? size : sizeof(struct px_log_frame) +
							      next_random(&random) %
								      (size - sizeof(struct px_log_frame)));
		free(copy);
	}
	free(bytes);
}
END_TEST

START_TEST(unpack_refuses_a_frame_with_another_sum)
{
	uint64_t random = test_seed();
	struct px_unpacked got[20];
	struct px_log_frame frame;
	unsigned char *bytes;
	size_t size;

	bytes = new_frame(20, &random, &size);
	for (size_t i = offsetof(struct px_log_frame, sum); i < size; i++) {
		bytes[i] ^= (unsigned char)(1u << i % 8);
		frame = head_of(bytes);
		if (px_unpack_is_frame(&frame, 0, 20, size - sizeof(frame)))
			ck_assert_uint_eq(unpack_whole(bytes, got), 0);
		bytes[i] ^= (unsigned char)(1u << i % 8);
	}
	ck_assert_uint_eq(unpack_whole(bytes, got), 20);
	free(bytes);
}
END_TEST

/* In the frames of the first logs, one lane has the sum. */
START_TEST(unpack_of_a_frame_with_one_lane)
{
	uint64_t random = test_seed();
	struct px_unpacked got[20];
	struct px_log_frame frame;
	unsigned char *bytes;
	size_t size;

	bytes = new_frame(20, &random, &size);
	frame = head_of(bytes);
	frame.flags &= ~PX_FRAME_LANES;
	frame.sum = 0;
	frame.sum = px_frame_sum(px_frame_sum(1, &frame, sizeof(frame), false), bytes + sizeof(frame),
				 size - sizeof(frame), false);
	memcpy(bytes, &frame, sizeof(frame));
	ck_assert_uint_eq(unpack_whole(bytes, got), 20);
	free(bytes);
}
END_TEST

/* The frames of the first logs have full paths. */
START_TEST(unpack_of_paths_that_share_nothing)
{
	struct px_unpacked got[1];
	struct px_log_frame frame;
	unsigned char bytes[200];
	const void *packed;
	size_t size;

	px_pack_begin(pack, 0, true);
	add_open(0, "/path", 1);
	packed = px_pack_end(pack, &size);
	ck_assert_uint_lt(size, sizeof(bytes));
	memcpy(bytes, packed, size);
	/* Before the path is the number of bytes that it shares. */
	ck_assert_uint_eq(bytes[size - 8], 0);
	memmove(&bytes[size - 8], &bytes[size - 7], 7);
	frame = head_of(bytes);
	frame.records--;
	frame.flags &= ~PX_FRAME_SHARES;
	frame.sum = px_frame_sum_of(&frame, bytes + sizeof(frame), false);
	memcpy(bytes, &frame, sizeof(frame));
	ck_assert_uint_eq(unpack_whole(bytes, got), 1);
	ck_assert_uint_eq(got[0].length, 16 + 7);
	ck_assert_mem_eq(got[0].more, "/path/0", 7);
}
END_TEST

#define NR_FILES 200

/* The paths of files that a program opens one after another differ in a few bytes. */
START_TEST(pack_of_an_object_takes_its_differences)
{
	struct px_log_object object = {.object = {.type = PX_TXTB_MUTEX, .pid = 4711, .tid = 4712,
						  .thread = UINT64_C(0x7f0123456740)},
				       .site = UINT64_C(0x55d5ff07dee0)};
	struct px_log_object got;
	struct px_log_frame frame;
	const unsigned char *bytes;
	size_t size, offset = 0;

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < NR_FILES; i++) {
		object.object.handle = HANDLE + i;
		object.address = 3 + i;
		snprintf(object.object.name, sizeof(object.object.name), "/var/lib/data/file%u", 1000 + i);
		px_pack_object(pack, &object);
	}
	bytes = px_pack_end(pack, &size);
	ck_assert_uint_le(size, sizeof(frame) + 100 + NR_FILES * 9);
	frame = head_of(bytes);
	for (uint32_t i = 0; i < NR_FILES; i++) {
		ck_assert(px_unpack_next_object(&frame, bytes + sizeof(frame), &offset, &got));
		snprintf(object.object.name, sizeof(object.object.name), "/var/lib/data/file%u", 1000 + i);
		ck_assert_uint_eq(got.object.handle, HANDLE + i);
		ck_assert_uint_eq(got.object.type, PX_TXTB_MUTEX);
		ck_assert_uint_eq(got.object.pid, 4711);
		ck_assert_uint_eq(got.object.tid, 4712);
		ck_assert_uint_eq(got.object.thread, object.object.thread);
		ck_assert_uint_eq(got.address, 3 + i);
		ck_assert_uint_eq(got.site, object.site);
		ck_assert_str_eq(got.object.name, object.object.name);
	}
	ck_assert(!px_unpack_next_object(&frame, bytes + sizeof(frame), &offset, &got));
}
END_TEST

static struct px_log_object child_of(uint32_t i, bool is_lock)
{
	struct px_log_object object = {.object = {.type = is_lock ? PX_TXTB_MUTEX : PX_TXTB_THREAD,
						  .handle = px_txtb_handle(is_lock ? PX_TXTB_MUTEX : PX_TXTB_THREAD,
									   1 + i),
						  .priority = is_lock ? 0 : 120,
						  .pid = 4711 + i}};

	if (is_lock) {
		object.address = UINT64_C(0x55d5ff080040);
		object.site = UINT64_C(0x55d5ff07dee0);
	} else {
		object.object.tid = object.object.pid;
		object.object.thread = UINT64_C(0x7f0123456740);
	}
	snprintf(object.object.name, sizeof(object.object.name), is_lock ? "lock #%u" : "child %u",
		 object.object.pid);
	return object;
}

/* Children of a process, each with a lock: each is stored as its differences from the last one of its kind. */
START_TEST(pack_of_objects_of_two_kinds_in_turns_takes_their_differences)
{
	struct px_log_object object, got;
	struct px_log_frame frame;
	const unsigned char *bytes;
	size_t size, offset = 0;

	px_pack_begin(pack, 0, true);
	for (uint32_t i = 0; i < NR_FILES; i++) {
		object = child_of(i / 2, i % 2 != 0);
		px_pack_object(pack, &object);
	}
	bytes = px_pack_end(pack, &size);
	ck_assert_uint_le(size, sizeof(frame) + 100 + NR_FILES * 13);
	frame = head_of(bytes);
	for (uint32_t i = 0; i < NR_FILES; i++) {
		ck_assert(px_unpack_next_object(&frame, bytes + sizeof(frame), &offset, &got));
		object = child_of(i % (NR_FILES / 2), i >= NR_FILES / 2);
		ck_assert_mem_eq(&got, &object, sizeof(got));
	}
	ck_assert(!px_unpack_next_object(&frame, bytes + sizeof(frame), &offset, &got));
}
END_TEST

/* The frames of the first logs have full objects. */
START_TEST(unpack_of_objects_without_differences)
{
	static const unsigned char body[] = {5, 1, 2, 3, 4, 6, 7, 8, 2, 'a', 'b',
					     9, 1, 2, 3, 4, 6, 7, 8, 1, 'c'};
	const struct px_log_frame frame = {.objects = sizeof(body)};
	struct px_log_object got;
	size_t offset = 0;

	ck_assert(px_unpack_next_object(&frame, body, &offset, &got));
	ck_assert_uint_eq(got.object.handle, 5);
	ck_assert_uint_eq(got.site, 8);
	ck_assert_str_eq(got.object.name, "ab");
	ck_assert(px_unpack_next_object(&frame, body, &offset, &got));
	ck_assert_uint_eq(got.object.handle, 9);
	ck_assert_uint_eq(got.object.tid, 4);
	ck_assert_uint_eq(got.address, 7);
	ck_assert_str_eq(got.object.name, "c");
	ck_assert(!px_unpack_next_object(&frame, body, &offset, &got));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pack");
	TCase *packing = tcase_create("pack");

	tcase_add_checked_fixture(packing, setup, teardown);
	tcase_set_timeout(packing, 120);
	tcase_add_test(packing, pack_of_all_that_can_be_comes_back);
	tcase_add_test(packing, pack_of_stacks_comes_back_and_has_each_stack_once);
	tcase_add_test(packing, pack_of_a_stack_that_is_missing_is_damaged);
	tcase_add_test(packing, pack_time_that_the_stamps_do_not_show_comes_back);
	tcase_add_test(packing, pack_of_usual_events_takes_three_bytes_each);
	tcase_add_test(packing, pack_of_calls_takes_five_bytes_each);
	tcase_add_test(packing, pack_with_full_tables_comes_back);
	tcase_add_test(packing, pack_of_paths_takes_their_differences);
	tcase_add_loop_test(packing, pack_of_paths_needs_bounded_memory, 0, 3);
	tcase_add_test(packing, unpack_of_paths_that_share_nothing);
	tcase_add_test(packing, unpack_of_damage_stays_within_the_frame);
	tcase_add_test(packing, unpack_refuses_a_frame_with_another_sum);
	tcase_add_test(packing, unpack_of_a_frame_with_one_lane);
	tcase_add_test(packing, pack_of_an_object_takes_its_differences);
	tcase_add_test(packing, pack_of_objects_of_two_kinds_in_turns_takes_their_differences);
	tcase_add_test(packing, unpack_of_objects_without_differences);
	suite_add_tcase(suite, packing);
	return run_suite(suite);
}
