/* SPDX-License-Identifier: MIT */
/*
 * A file from anywhere, opened and used in every way: for libFuzzer, for AFL++, and, with neither, for files
 * named on the command line, which is how a finding is looked at and how findings stay tests.
 *
 * An input begins with a byte that says what the rest is:
 *
 *	even	the file as it is
 *	odd	a log of this library without the zeros between its areas, which are most of it: TXTB header,
 *		log header, commit, then for each area its length (two bytes) and its bytes.  Lengths beyond
 *		the end are cut.
 *
 * Further bits:
 *
 *	2	the frames get the check sums that they should have, and the commit of an odd input the offsets of
 *		the tail, so that what they hold is looked at
 *
 * And of odd inputs:
 *
 *	4	the first volume says where the next one is: there, again a header, a log header and areas
 *	8	the log is moving: it is behind what is at the beginning of the file, and has a footer
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/format.h"
#include "log/order.h"

#define EVENTS_MAX 100000 /* a file with many events is not more interesting than one with these */
#define TRXC_BYTES 4096
#define INPUT_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* Copy a part of the input to its place in the file. */
struct unfolding {
	int fd;
	const uint8_t *input;
	size_t left;
};

static size_t put(struct unfolding *unfolding, size_t size, uint64_t offset)
{
	if (size > unfolding->left)
		size = unfolding->left;
	if (size > 0 && pwrite(unfolding->fd, unfolding->input, size, (off_t)offset) < 0)
		abort();
	unfolding->input += size;
	unfolding->left -= size;
	return size;
}

static void put_area(struct unfolding *unfolding, uint64_t offset)
{
	size_t size;

	if (unfolding->left < 2)
		return;
	size = unfolding->input[0] | (size_t)unfolding->input[1] << 8;
	unfolding->input += 2;
	unfolding->left -= 2;
	put(unfolding, size, offset);
}

enum { IS_FOLDED = 1, SUMS = 2, SECOND_VOLUME = 4, IS_MOVING = 8 };

/*
 * Store the right check sum in each frame from here on, as long as the frames are adjacent.  Positions count from
 * `first`.  is_swapped: they are in the other byte order.
 */
static void sum_frames(int fd, uint64_t at, uint64_t end, uint64_t first, bool is_swapped)
{
	static unsigned char body[1 << 16];
	struct px_log_frame frame;

	while (pread(fd, &frame, sizeof(frame), (off_t)at) == sizeof(frame) && at < end) {
		uint64_t size;

		if (is_swapped)
			px_order_frame(&frame);
		size = (uint64_t)frame.objects + frame.records;
		if (size > sizeof(body) ||
		    pread(fd, body, (size_t)size, (off_t)(at + sizeof(frame))) != (ssize_t)size)
			return;
		frame.magic = PX_FRAME_MAGIC;
		frame.position += first;
		frame.sum = px_frame_sum_of(&frame, body, is_swapped);
		if (is_swapped)
			px_order_frame(&frame);
		if (pwrite(fd, &frame, sizeof(frame), (off_t)at) != sizeof(frame))
			abort();
		at += sizeof(frame) + size;
	}
}

/* Set the offset of the tail: wrappers, names, modules. */
static void place_tail(int fd, uint64_t header_at, uint64_t commit_at, uint64_t at)
{
	struct px_log_header header;
	struct px_log_commit commit;

	if (pread(fd, &header, sizeof(header), (off_t)header_at) != sizeof(header) ||
	    pread(fd, &commit, sizeof(commit), (off_t)commit_at) != sizeof(commit))
		return;
	commit.wrappers_at = at;
	commit.names_at = at + px_log_wrappers_size(&header, &commit);
	commit.modules_at = commit.names_at + (uint64_t)commit.nr_names * sizeof(struct px_log_name);
	if (pwrite(fd, &commit, sizeof(commit), (off_t)commit_at) != sizeof(commit))
		abort();
}

/* Fill a volume at this offset.  The image has its size, from which the areas follow.  Return the end of the volume. */
static uint64_t unfold_volume(struct unfolding *unfolding, uint64_t at, uint64_t first, int kind)
{
	struct px_txtb_header header = {.id = 0};
	struct px_log_header section = {.is_tight = 0};
	struct px_log_layout layout;
	uint32_t nr_objects, nr_entries;
	size_t left = unfolding->left;

	memcpy(&header, unfolding->input, left < sizeof(header) ? left : sizeof(header));
	nr_entries = (header.buffer_end - header.buffer_start) / sizeof(struct px_txtb_entry);
	if (left > sizeof(header))
		memcpy(&section, unfolding->input + sizeof(header),
		       left - sizeof(header) < sizeof(section) ? left - sizeof(header) : sizeof(section));
	nr_objects = (header.registry_end - header.registry_start) / (16u + header.name_size);
	layout = section.is_tight ?
			 px_log_layout_tight(nr_objects % 400, header.name_size % 64, nr_entries % 5000, 1 << 16) :
			 px_log_layout(nr_objects % 400, nr_entries % 5000, 1 << 16);
	put(unfolding, sizeof(header), at);
	put(unfolding, sizeof(struct px_log_header), at + layout.header);
	put(unfolding, sizeof(struct px_log_commit), at + layout.commit);
	if (kind & SUMS)
		place_tail(unfolding->fd, at + layout.header, at + layout.commit, layout.size);
	put_area(unfolding, at + sizeof(header));
	put_area(unfolding, at + layout.entries);
	put_area(unfolding, at + layout.frames);
	if (kind & SUMS)
		sum_frames(unfolding->fd, at + layout.frames, at + layout.size, first, false);
	put_area(unfolding, at + layout.size);
	return at + layout.size;
}

/* Link the volume at this offset to the next one.  Return how many entries the volume may have itself. */
static uint64_t link_volume(int fd, uint64_t at, uint64_t next)
{
	struct px_log_header header;
	struct px_log_layout layout;
	uint64_t link;

	if (!px_log_find_volume(fd, at, &header, &layout))
		return 0;
	link = at + layout.header + offsetof(struct px_log_header, next_volume);
	if (pwrite(fd, &next, sizeof(next), (off_t)link) != sizeof(next))
		abort();
	return header.nr_entries;
}

static void put_footer(int fd, uint64_t base, uint64_t end)
{
	struct px_log_footer footer = {
		.magic = PX_LOG_FOOTER_MAGIC, .base = base, .size = end - base};
	struct px_log_header header;
	struct px_log_layout layout;

	if (px_log_find_volume(fd, base, &header, &layout))
		memcpy(footer.uuid, header.uuid, sizeof(footer.uuid));
	if (pwrite(fd, &footer, sizeof(footer), (off_t)end) != sizeof(footer))
		abort();
}

static void unfold(int fd, const uint8_t *input, size_t size, int kind)
{
	struct unfolding unfolding = {fd, input, size};
	uint64_t base = 0, next, end;
	struct stat status;

	if (kind & IS_MOVING)
		base = px_log_page_up(put(&unfolding, size < 256 ? size : 256, 0));
	end = next = px_log_page_up(unfold_volume(&unfolding, base, 0, kind));
	if (kind & SECOND_VOLUME) {
		/* The tail of the first volume may overlap the second one; a hostile file can do this. */
		end = unfold_volume(&unfolding, next, link_volume(fd, base, next), kind);
	}
	if (fstat(fd, &status) != 0)
		abort();
	if ((uint64_t)status.st_size > end)
		end = (uint64_t)status.st_size;
	if (ftruncate(fd, (off_t)end) != 0)
		abort();
	if (kind & IS_MOVING)
		put_footer(fd, base, end);
}

/* The frames of the first volume of a file. */
static void sum_file(int fd, uint64_t size)
{
	struct px_log_header header;
	struct px_log_layout layout;

	if (px_log_find(fd, &header, &layout))
		sum_frames(fd, layout.base + layout.frames, size, 0, px_log_is_swapped(&header));
}

static void read_events(trace_id_t trid, size_t capacity, long limit)
{
	static unsigned char data[4096];
	struct posix_trace_event_info info;
	struct txtrace_call call;
	size_t length;
	int unavailable = 0;

	for (long i = 0; i < limit && !unavailable; i++) {
		if (posix_trace_getnext_event(trid, &info, data, capacity, &length, &unavailable) !=
		    0)
			abort();
		if (!unavailable && txtrace_get_call(trid, &info, &call) != 0 &&
		    txtrace_get_call(trid, &info, &call) != ENOENT)
			abort();
		if (!unavailable && (length > capacity || info.posix_timestamp.tv_nsec < 0 ||
				     info.posix_timestamp.tv_nsec >= 1000000000))
			abort();
	}
}

static void read_many(trace_id_t trid, size_t capacity)
{
	static unsigned char data[4096];
	struct txtrace_event events[16];
	size_t nr = 1;

	for (int i = 0; i < EVENTS_MAX && nr > 0; i++) {
		if (txtrace_getnext_events(trid, events, 16, data, capacity, &nr) != 0 || nr > 16)
			abort();
		for (size_t at = 0; at < nr; at++)
			if (events[at].length > 0 && events[at].offset + events[at].length > capacity)
				abort();
	}
}

static void read_layout(trace_id_t trid, trace_event_id_t id)
{
	struct txtrace_layout *layout = NULL;
	int error = txtrace_get_layout(trid, id, &layout);

	if (error && error != ENOENT && error != ENOMEM)
		abort();
	for (unsigned int i = 0; !error && i < layout->nr_fields; i++)
		if (layout->field[i].nr_members > layout->nr_fields - i - 1 || strlen(layout->field[i].name) == 0)
			abort();
	txtrace_free_layout(layout);
}

static void read_types(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable = 0;

	for (;;) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) != 0)
			abort();
		if (unavailable)
			break;
		if (posix_trace_eventid_get_name(trid, id, name) != 0 ||
		    strnlen(name, sizeof(name)) == sizeof(name))
			abort();
		read_layout(trid, id);
	}
	posix_trace_eventtypelist_rewind(trid);
}

static void read_objects(trace_id_t trid)
{
	struct txtrace_object object;
	int unavailable = 0;

	for (int i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (txtrace_getnext_object(trid, &object, &unavailable) != 0 ||
		    (!unavailable &&
		     strnlen(object.name, sizeof(object.name)) == sizeof(object.name)))
			abort();
}

static void read_wrappers(trace_id_t trid)
{
	struct txtrace_wrapper wrapper;
	int unavailable = 0;

	for (int i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (txtrace_getnext_wrapper(trid, &wrapper, &unavailable) != 0 ||
		    (!unavailable &&
		     strnlen(wrapper.symbol, sizeof(wrapper.symbol)) == sizeof(wrapper.symbol)))
			abort();
}

static void use(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct txtrace_file_info info;
	struct txtrace_machine machine;
	char trxc[TRXC_BYTES], text[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t length;

	if (posix_trace_get_attr(trid, &attr) != 0 || posix_trace_get_status(trid, &status) != 0)
		abort();
	if (posix_trace_attr_getname(&attr, text) != 0 ||
	    posix_trace_attr_getgenversion(&attr, text) != 0)
		abort();
	read_events(trid, 4096, EVENTS_MAX);
	posix_trace_rewind(trid);
	read_events(trid, 5, 100);
	posix_trace_rewind(trid);
	read_many(trid, 4096);
	posix_trace_rewind(trid);
	read_many(trid, 5);
	txtrace_set_tick(trid, 12.5);
	read_events(trid, 0, 100);
	read_types(trid);
	read_objects(trid);
	txtrace_get_trxc(trid, trxc, sizeof(trxc), &length);
	txtrace_get_modules(trid, trxc, sizeof(trxc), &length);
	txtrace_get_file_info(trid, &info);
	txtrace_get_machine(trid, &machine);
	read_wrappers(trid);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	trace_id_t trid;
	int fd;

	if (size < 1)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (input[0] & IS_FOLDED)
		unfold(fd, input + 1, size - 1, input[0]);
	else if (write(fd, input + 1, size - 1) < 0)
		abort();
	if ((input[0] & (IS_FOLDED | SUMS)) == SUMS)
		sum_file(fd, size - 1);
	if (posix_trace_open(fd, &trid) == 0) {
		use(trid);
		posix_trace_close(trid);
	}
	close(fd);
	return 0;
}

#include "fuzz/main.h"

#if !defined __AFL_FUZZ_TESTCASE_LEN && !defined FUZZ_WITH_LIBFUZZER
static void use_input(uint8_t *input, size_t size)
{
	LLVMFuzzerTestOneInput(input, size);
}
#endif
