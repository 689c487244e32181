/* SPDX-License-Identifier: MIT */
/*
 * Trace buffers of other recorders as pre-recorded streams.  Nearly every test also gives its file to the checker,
 * which uses no code of lib/.  Reader and checker must accept the same files, and find the same objects and events, in
 * the same order and at the same relative times.
 */
#include "support/common.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/archive_txtb.h"
#include "support/txtb_draft.h"
#include "txtb/file.h"
#include "txtb/native.h"
#include "txtb/txtb.h"

#define THREAD 0x01000001u
#define END_NS UINT64_C(1700000000123456789) /* the modification time of the files */

static struct px_archive *archive;
static struct txtb_trace trace;

/* Write one thread, and events at these stamps; the oldest event is in slot `current`. */
static void draft_stamps(const uint32_t *stamps, size_t nr_stamps, uint32_t current)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_begin_events();
	for (size_t i = 0; i < nr_stamps; i++)
		draft_add_event(THREAD, 4096 + (uint32_t)i, stamps[i]);
	draft.current += current * DRAFT_ENTRY_BYTES;
	draft_end();
}

static void draft_simple(void)
{
	draft_stamps((const uint32_t[]){1000, 1010, 1030, 1060}, 4, 0);
}

/* Write objects and events of all kinds. */
static void draft_rich(bool big_endian)
{
	draft_begin(big_endian, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_add_object(0, 0, "");
	draft_add_object_with(1, THREAD + 1, 0x0005, "no priority");
	draft_add_object_with(1, THREAD + 2, 0x8301, "priority of ten bits");
	draft_add_object(4, 0x04000001, "semaphore");
	draft_add_object(15, 0x0F000011, "a user event");
	draft_begin_events();
	for (uint32_t i = 0; i < 10; i++)
		draft_add_event(THREAD + i % 3, i % 2 ? 83 : 3u << 24 | (4096 + 17), 4000000000u + i);
	draft_add_event_with(TXTB_INTERRUPT, THREAD + 1, 3, 4000000020u);
	draft_add_event_with(TXTB_INITIALIZE, 0, 1500, 4000000020u);
	draft_add_event(THREAD, 0, 5);
	draft_add_event(THREAD, 65535, 5);
	draft.current += 10 * DRAFT_ENTRY_BYTES;
	draft_end();
}

static uint64_t attr_ns(const struct px_attr_time *time)
{
	return (uint64_t)time->s * 1000000000 + (uint64_t)time->ns;
}

/* Make a file without a name, whose modification time is END_NS. */
static int make_file(const void *bytes, size_t size)
{
	const struct timespec times[2] = {{0, UTIME_OMIT},
					  {END_NS / 1000000000, END_NS % 1000000000}};
	int fd = memfd_create("check_foreign", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || futimens(fd, times) != 0)
		ck_abort_msg("no file: %s", strerror(errno));
	return fd;
}

static void close_archive(void)
{
	if (archive)
		archive->kind->free(archive);
	archive = NULL;
}

static int open_bytes(const void *bytes, size_t size)
{
	int fd = make_file(bytes, size);
	int error;

	close_archive();
	error = px_archive_txtb_open(fd, false, &archive);
	close(fd);
	return error;
}

static int open_draft(void)
{
	return open_bytes(draft.bytes, draft.size);
}

static enum px_next take(struct px_report *report, uint32_t info[4])
{
	return archive->kind->next(archive, info, 4 * sizeof(*info), report);
}

/* The comparison: reader and checker get the same bytes.  The functions return the first difference, or NULL. */

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return #condition;                                                         \
	} while (0)

static const char *compare_event(const struct txtb_event *event, uint64_t all_ticks,
				 const struct px_report *report, const uint32_t info[4])
{
	const struct px_record *record = &report->record;
	bool is_thread = event->context != TXTB_INTERRUPT && event->context != TXTB_INITIALIZE;

	MUST(record->id == PX_FOREIGN_TYPES + event->id);
	MUST(record->context == event->context);
	MUST(record->thread == event->context);
	MUST((is_thread ? record->priority & 0x3FF : record->priority) == event->priority);
	MUST(record->cpu == event->raw_id >> 24);
	MUST(record->counter == event->ticks);
	MUST(report->time_ns == END_NS - (all_ticks - event->ticks)); /* a tick is 1 ns */
	MUST(report->length == 16 && report->copied == 16 && record->length == 16);
	MUST(memcmp(info, event->info, 16) == 0);
	MUST(record->pid == 0 && record->address == 0 && record->flags == 0);
	return NULL;
}

static const char *compare_events(uint32_t nr_events)
{
	uint64_t all_ticks = trace.nr_events ? trace.events[trace.nr_events - 1].ticks : 0;
	struct px_report report;
	const char *difference;
	uint32_t info[4];

	for (uint32_t i = 0; i < nr_events; i++) {
		MUST(take(&report, info) == PX_NEXT_EVENT);
		difference = compare_event(&trace.events[i], all_ticks, &report, info);
		if (difference)
			return difference;
	}
	return NULL;
}

/* Get the next used object at this slot or after it. */
static bool next_object(uint32_t *slot, struct px_archive_object *object)
{
	while (archive->kind->object(archive, (*slot)++, object))
		if (object->type != PX_TXTB_UNUSED)
			return true;
	return false;
}

static const char *compare_objects(void)
{
	struct px_archive_object object;
	uint32_t slot = 0;

	for (uint32_t i = 0; i < trace.nr_registered; i++) {
		const struct txtb_object *expected = &trace.objects[i];

		MUST(next_object(&slot, &object));
		MUST(object.handle == expected->handle);
		MUST(object.type == expected->type);
		MUST(object.priority == expected->priority);
		MUST(object.is_released == (expected->available != 0));
		MUST(object.parameter[0] == expected->parameter1);
		MUST(object.parameter[1] == expected->parameter2);
		MUST(strcmp(object.name, expected->name) == 0);
		MUST(object.pid == 0 && object.tid == 0);
	}
	MUST(!next_object(&slot, &object));
	MUST(slot == archive->info.nr_registry_slots + 1);
	return NULL;
}

static const char *compare_types(void)
{
	static bool occurs[65536];
	char name[PX_NAME_MAX + 1];
	uint32_t i = PX_EVENT_SYSTEM_LAST + 1;

	memset(occurs, 0, sizeof(occurs));
	for (uint32_t k = 0; k < trace.nr_events; k++)
		occurs[trace.events[k].id] = true;
	for (uint32_t id = 0; id < 65536; id++) {
		if (!occurs[id])
			continue;
		MUST(archive->kind->type(archive, i++) == PX_FOREIGN_TYPES + id);
		MUST(archive->kind->type_name(archive, PX_FOREIGN_TYPES + id, name) == 0);
		MUST(name[0] != '\0' && strlen(name) <= PX_NAME_MAX);
	}
	MUST(archive->kind->type(archive, i) == PX_EVENT_NONE);
	MUST(archive->kind->type(archive, UINT32_MAX) == PX_EVENT_NONE);
	return NULL;
}

static const char *compare_info(void)
{
	const struct px_archive_info *info = &archive->info;

	archive->kind->complete_info(archive);
	MUST(info->is_foreign && info->is_complete && info->nr_volumes == 1);
	MUST(info->is_swapped == (trace.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)));
	MUST(info->time_mask == trace.time_mask);
	MUST(info->name_size == trace.name_size);
	MUST(info->nr_registry_slots == trace.nr_registry_slots);
	MUST(info->nr_entry_slots == trace.nr_event_slots);
	MUST(info->nr_entries == trace.nr_events);
	MUST(info->nr_shortened == 0 && info->shortened_ns == 0);
	return NULL;
}

/* Compare all contents: the archive is open, and the checker has filled in `trace`. */
static const char *compare_contents(void)
{
	struct px_report report;
	const char *difference;
	uint32_t info[4];

	MUST(archive->kind->set_tick(archive, 1) == 0);
	difference = compare_events(trace.nr_events);
	if (difference)
		return difference;
	MUST(take(&report, info) == PX_NEXT_NONE);
	MUST(take(&report, info) == PX_NEXT_NONE);
	if ((difference = compare_objects()) || (difference = compare_types()) ||
	    (difference = compare_info()))
		return difference;
	archive->kind->rewind(archive);
	difference = compare_events(trace.nr_events / 2);
	if (difference)
		return difference;
	archive->kind->rewind(archive);
	return compare_events(trace.nr_events);
}

static const char *compare_bytes(const void *bytes, size_t size)
{
	enum txtb_verdict verdict = draft_check(bytes, size, &trace);
	int error = open_bytes(bytes, size);

	MUST(verdict != TXTB_NO_MEMORY);
	if (verdict != TXTB_ACCEPTED)
		MUST(error == EINVAL);
	else
		MUST(error == 0);
	return error ? NULL : compare_contents();
}

/* Expect that reader and checker agree about the draft.  Return true if both accept it. */
static bool agreed(void)
{
	const char *difference = compare_bytes(draft.bytes, draft.size);

	ck_assert_msg(!difference, "not as the checker says: %s", difference);
	return archive != NULL;
}

#define accepted() ck_assert(agreed())
#define refused(verdict)                                                                                               \
	do {                                                                                                           \
		ck_assert(!agreed());                                                                                  \
		ck_assert_str_eq(txtb_verdict_name(draft_check(draft.bytes, draft.size, &trace)),                      \
				 txtb_verdict_name(verdict));                                                          \
	} while (0)

/* What is read. */

START_TEST(open_either_byte_order_reads_the_same)
{
	draft_rich(_i == 1);
	accepted();
	ck_assert_int_eq(archive->info.is_swapped,
			 (_i == 1) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	ck_assert_uint_eq(archive->info.nr_entries, 14);
	ck_assert_uint_eq(trace.nr_registered, 5);
	ck_assert_uint_eq(trace.events[0].context, TXTB_INTERRUPT);
	ck_assert_uint_eq(trace.objects[2].priority, 0x301);
	ck_assert_uint_eq(trace.objects[1].priority, UINT32_MAX);
}
END_TEST

START_TEST(open_any_name_size_below_64_is_read)
{
	char name[80];

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		memset(name, 'n', sizeof(name));
		name[_i] = '\0';
		draft_begin(big_endian, (uint32_t)_i);
		draft_add_object(1, THREAD, name);
		draft_add_object(1, THREAD + 1, "next");
		draft_begin_events();
		for (uint32_t i = 0; i < 3; i++)
			draft_add_event(THREAD, 4096, i);
		draft_end();
		accepted();
		ck_assert_str_eq(trace.objects[0].name, name);
		ck_assert_uint_eq(trace.nr_events, 3);
	}
}
END_TEST

START_TEST(open_registry_of_many_objects_is_read)
{
	char name[32];

	draft_begin(_i % 2, 18);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "object %u", i);
		draft_add_object(i % 7 ? i % 16 : 0, 1 + i, name);
	}
	draft_begin_events();
	for (uint32_t i = 0; i < 4; i++)
		draft_add_event(1, 4096, i);
	draft_end();
	accepted();
	ck_assert_uint_gt(trace.nr_registered, 4000);
}
END_TEST

START_TEST(object_in_any_order_is_the_same)
{
	struct px_archive_object object;
	uint32_t nr_slots, left;

	draft_rich(false);
	accepted();
	nr_slots = archive->info.nr_registry_slots;
	left = trace.nr_registered;
	for (uint32_t i = nr_slots + 2; i-- > 0;) {
		bool is_used = false;

		for (int twice = 0; twice < 2; twice++) {
			ck_assert_int_eq(archive->kind->object(archive, i, &object), i < nr_slots);
			is_used = i < nr_slots && object.type != PX_TXTB_UNUSED;
			if (is_used)
				ck_assert_uint_eq(object.handle, trace.objects[left - 1].handle);
		}
		left -= is_used;
	}
	ck_assert_uint_eq(left, 0);
}
END_TEST

START_TEST(open_duplicate_handles_are_all_listed)
{
	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(4, THREAD, "queue");
	draft_add_object(1, THREAD, "first");
	draft_add_object(1, THREAD, "second");
	draft_begin_events();
	for (uint32_t i = 0; i < 3; i++)
		draft_add_event(THREAD, 4096, i);
	draft_end();
	accepted();
	ck_assert_uint_eq(trace.nr_registered, 3);
}
END_TEST

START_TEST(open_trailing_bytes_are_ignored)
{
	draft_simple();
	for (uint32_t i = 0; i < 40; i++)
		draft_put(0x55, 1);
	accepted();
	ck_assert_uint_eq(archive->info.nr_entries, 4);
}
END_TEST

START_TEST(open_registry_with_slack_shifts_the_events)
{
	for (uint32_t slack = 1; slack < 16 + DRAFT_NAME_SIZE; slack++) {
		draft_simple();
		draft.registry_end += slack;
		draft_end();
		accepted();
		ck_assert_uint_eq(archive->info.nr_entries, 4);
	}
	/* The registry has no complete object. */
	for (uint32_t length = 1; length < 16 + DRAFT_NAME_SIZE; length++) {
		draft_simple();
		draft.registry_end = draft.registry_start + length;
		draft_end();
		accepted();
		ck_assert_uint_eq(archive->info.nr_registry_slots, 0);
	}
}
END_TEST

/* A sparse file: the reader finds its events, and searches its objects only up to a bound. */
START_TEST(open_registry_of_4_gigabytes_is_searched_up_to_a_bound)
{
	uint64_t registry_size = UINT64_C(0xF0000000) / (16 + DRAFT_NAME_SIZE) * (16 + DRAFT_NAME_SIZE);
	struct px_report report;
	uint32_t info[4];
	int fd = px_test_file();
	size_t entries;

	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_begin_events();
	entries = draft.size;
	draft_add_event(THREAD, 5000, 1);
	draft.registry_end = draft.registry_start + (uint32_t)registry_size;
	draft_end();
	ck_assert_int_eq(pwrite(fd, draft.bytes, entries, 0), (ssize_t)entries);
	ck_assert_int_eq(pwrite(fd, draft.bytes + entries, DRAFT_ENTRY_BYTES, (off_t)(48 + registry_size)),
			 DRAFT_ENTRY_BYTES);
	ok(px_archive_txtb_open(fd, false, &archive));
	ck_assert_uint_eq(archive->info.nr_registry_slots, PX_TXTB_FILE_OBJECTS_MAX);
	ck_assert_int_eq(take(&report, info), PX_NEXT_EVENT);
	ck_assert_uint_eq(report.record.id, PX_FOREIGN_TYPES + 5000);
	archive->kind->free(archive);
	close(fd);
}
END_TEST

START_TEST(next_core_bits_are_the_cpu)
{
	struct px_report report;
	uint32_t info[4];

	draft_begin(_i == 1, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < 256; i++)
		draft_add_event(THREAD, i << 24 | 0x5A0000 | 83, i);
	draft_end();
	accepted();
	archive->kind->rewind(archive);
	for (uint32_t i = 0; i < 256; i++) {
		ck_assert_int_eq(take(&report, info), PX_NEXT_EVENT);
		ck_assert_uint_eq(report.record.cpu, i);
		ck_assert_uint_eq(report.record.id, PX_FOREIGN_TYPES + 83);
	}
}
END_TEST

START_TEST(next_data_is_cut_at_the_capacity)
{
	unsigned char data[32];
	struct px_report report;

	draft_rich(_i == 1);
	ck_assert_int_eq(open_draft(), 0);
	ck_assert_int_eq(archive->kind->next(archive, NULL, 0, &report), PX_NEXT_EVENT);
	ck_assert_uint_eq(report.copied, 0);
	for (size_t capacity = 0; capacity < sizeof(data); capacity++) {
		size_t kept = capacity < 16 ? capacity : 16;

		archive->kind->rewind(archive);
		memset(data, 0xEE, sizeof(data));
		ck_assert_int_eq(archive->kind->next(archive, data, capacity, &report),
				 PX_NEXT_EVENT);
		ck_assert_uint_eq(report.length, 16);
		ck_assert_uint_eq(report.copied, kept);
		draft_check(draft.bytes, draft.size, &trace);
		ck_assert_int_eq(memcmp(data, trace.events[0].info, kept), 0);
		for (size_t i = kept; i < sizeof(data); i++)
			ck_assert_uint_eq(data[i], 0xEE);
	}
}
END_TEST

/* The oldest event, holes, ends of the buffer. */

START_TEST(next_wrapped_file_begins_at_current)
{
	uint32_t stamps[10];

	for (uint32_t i = 0; i < 10; i++)
		stamps[i] = 1000 + 10 * ((i + 10 - (uint32_t)_i) % 10);
	draft_stamps(stamps, 10, (uint32_t)_i);
	accepted();
	ck_assert_uint_eq(trace.events[0].stamp, 1000);
	ck_assert_uint_eq(trace.events[9].ticks, 90);
}
END_TEST

START_TEST(next_current_that_is_no_slot_leaves_the_file_order)
{
	static const uint32_t distances[] = {1,	  4,   16,     31,	    33,
					     128, 160, 0x1000, 0xFFFFFFE0u, 0x80000000u};

	for (size_t i = 0; i < PX_ARRAY_SIZE(distances); i++) {
		draft_simple();
		draft.current = draft.buffer_start + distances[i];
		draft_end();
		accepted();
		ck_assert_uint_eq(trace.events[0].stamp, 1000);
	}
}
END_TEST

START_TEST(next_stops_at_the_first_hole)
{
	for (uint32_t hole = 0; hole < 6; hole++) {
		for (uint32_t current = 0; current < 6; current++) {
			draft_begin(hole % 2, DRAFT_NAME_SIZE);
			draft_add_object(1, THREAD, "thread");
			draft_begin_events();
			for (uint32_t i = 0; i < 6; i++)
				draft_add_event(i == hole ? 0 : THREAD, 4096 + i, (i + 6 - current) % 6);
			draft.current += current * DRAFT_ENTRY_BYTES;
			draft_end();
			accepted();
			ck_assert_uint_eq(archive->info.nr_entries, hole);
		}
	}
}
END_TEST

/* Many windows; the buffer wraps in the middle of a window or at its edge. */
START_TEST(next_long_file_is_read_through_windows)
{
	static const uint32_t sizes[] = {4095, 4096, 4097, 8192, 12289};
	uint32_t n = sizes[_i];
	const uint32_t currents[] = {0, 1, 4095, 4096 % n, 4097 % n, n / 2, n - 1};

	for (size_t k = 0; k < PX_ARRAY_SIZE(currents); k++) {
		draft_begin(k % 2, DRAFT_NAME_SIZE);
		draft_add_object(1, THREAD, "thread");
		draft_begin_events();
		for (uint32_t i = 0; i < n; i++)
			draft_add_event(THREAD, i, 7 * ((i + n - currents[k]) % n));
		draft.current += currents[k] * DRAFT_ENTRY_BYTES;
		draft_end();
		accepted();
		ck_assert_uint_eq(trace.events[n - 1].ticks, 7 * (n - 1));
	}
}
END_TEST

START_TEST(open_few_events_are_read)
{
	for (uint32_t n = 0; n <= 4; n++) {
		for (uint32_t nr_spare = n == 0; nr_spare < 3; nr_spare++) {
			draft_begin(false, DRAFT_NAME_SIZE);
			draft_add_object(1, THREAD, "thread");
			draft_begin_events();
			for (uint32_t i = 0; i < n; i++)
				draft_add_event(THREAD, 83, 50 * i);
			draft.current = draft.buffer_end;
			for (uint32_t i = 0; i < nr_spare; i++)
				draft_add_event(0, 0, 0);
			draft_end();
			accepted();
			ck_assert_uint_eq(archive->info.nr_entries, n);
		}
	}
}
END_TEST

/* A buffer shorter than one slot still is a buffer. */
START_TEST(open_buffer_of_less_than_a_slot_is_empty)
{
	draft_simple();
	draft.buffer_end = draft.buffer_start + 31;
	draft_end();
	accepted();
	ck_assert_uint_eq(archive->info.nr_entries, 0);
	ck_assert_uint_eq(archive->info.nr_entry_slots, 0);
	draft.size = draft.buffer_start - DRAFT_BASE; /* the file need not contain it */
	accepted();
	draft.size--;
	ck_assert(!agreed());
}
END_TEST

/* Time. */

#define WRAP (UINT64_C(1) << 32)

static const struct {
	uint32_t mask;
	uint32_t current;
	uint32_t stamps[8];
	uint32_t nr_stamps;
	uint64_t ticks; /* of the last event */
} times[] = {
	{0xFFFFFFFF, 0, {1000, 1010, 1030, 1060}, 4, 60},
	{0xFFFFFFFF, 0, {1060, 1030, 1010, 1000}, 4, 60},
	{0xFFFFFFFF, 0, {0xFFFFFFF0, 0xFFFFFFF8, 0xFFFFFFFF, 4, 9}, 5, 25},
	{0xFFFFFFFF, 0, {0xFFFFFFF0, 0xFFFFFFF8, 0xFFFFFFFF, 4}, 4, 3 * WRAP - 20},
	{0xFFFFFFFF, 0, {12, 4, 0, 0xFFFFFFFC}, 4, 16},
	{0xFFFFFFFF, 2, {20, 30, 0xFFFFFFF0, 0, 10}, 5, 46},
	{0xFFFFFFFF, 0, {7, 7, 7, 7}, 4, 0},
	{0xFFFFFFFF, 0, {0, 50}, 2, WRAP - 50},
	{0xFFFFFFFF, 0, {50, 0}, 2, 50},
	{0xFFFFFFFF, 0, {0, 50, 100}, 3, 100},
	{0xFFFFFFFF, 0, {100, 50, 0}, 3, 100},
	{0xFFFFFFFF, 2, {300, 400, 100, 200}, 4, 3 * (WRAP - 100)},
	{0xFFFFFFFF, 0, {100, 200, 190, 300, 400}, 5, 100 + (WRAP - 10) + 110 + 100},
	{0x00FFFFFF, 0, {0x11FFFFF0, 0x22FFFFF8, 0x33FFFFFF, 0x44000004, 0x55000009}, 5, 25},
	{0x00FFFFFF, 3, {0x10, 0x20, 0x30, 0xFFFFF0, 0xFFFFF8, 0xFFFFFF}, 6, 0x40},
	{0x0000FFFF, 0, {4, 2, 0, 0xFFFE, 0xFFFC}, 5, 8},
	{0x000000F0, 0, {0x10, 0x20, 0x4F, 0x8F, 0x1F}, 5, 0x10 + 0x20 + 0x40 + 0xF1 - 0x70},
	{0x00000000, 0, {1, 2, 3, 4}, 4, 0},
	{0x00000001, 0, {1, 2, 3, 4}, 4, 3},
	{0x80000000, 0, {0, 0x80000000, 0, 0x80000000}, 4, 1 + UINT64_C(0x80000000) + 1},
};

START_TEST(next_time_is_unwrapped_in_the_voted_direction)
{
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		draft_begin(big_endian, DRAFT_NAME_SIZE);
		draft.time_mask = times[_i].mask;
		draft_add_object(1, THREAD, "thread");
		draft_begin_events();
		for (uint32_t i = 0; i < times[_i].nr_stamps; i++)
			draft_add_event(THREAD, 83, times[_i].stamps[i]);
		draft.current += times[_i].current * DRAFT_ENTRY_BYTES;
		draft_end();
		accepted();
		ck_assert_uint_eq(trace.events[trace.nr_events - 1].ticks, times[_i].ticks);
	}
}
END_TEST

/* Random steps, and a buffer that wraps anywhere: the scan and the reading add up the same times. */
START_TEST(next_random_stamps_come_out_as_the_checker_says)
{
	uint64_t state = test_seed();

	for (int round = 0; round < 500; round++) {
		uint32_t n = 1 + (uint32_t)(next_random(&state) % 40);
		uint32_t mask = (uint32_t)next_random(&state) | (uint32_t)next_random(&state);
		uint32_t stamp = (uint32_t)next_random(&state);
		bool falls = next_random(&state) % 2;

		draft_begin(next_random(&state) % 2, DRAFT_NAME_SIZE);
		if (next_random(&state) % 2)
			mask = UINT32_MAX >> next_random(&state) % 32;
		draft.time_mask = mask;
		draft_add_object(1, THREAD, "thread");
		draft_begin_events();
		for (uint32_t i = 0; i < n; i++) {
			uint32_t step = (uint32_t)next_random(&state) >> next_random(&state) % 32;

			stamp = falls ? stamp - step : stamp + step;
			draft_add_event(THREAD, (uint32_t)next_random(&state), stamp);
		}
		draft.current += (uint32_t)(next_random(&state) % (n + 2)) * DRAFT_ENTRY_BYTES;
		draft_end();
		accepted();
	}
}
END_TEST

static uint64_t time_of_event(uint32_t i)
{
	struct px_report report;
	uint32_t info[4];

	archive->kind->rewind(archive);
	do
		ck_assert_int_eq(take(&report, info), PX_NEXT_EVENT);
	while (i-- > 0);
	return report.time_ns;
}

START_TEST(next_last_event_is_when_the_file_was_modified)
{
	draft_simple();
	ck_assert_int_eq(open_draft(), 0);
	ck_assert_double_eq(archive->info.tick_ns, PX_FOREIGN_TICK_NS);
	ck_assert_uint_eq(attr_ns(&archive->attr.clock_resolution), 1000);
	ck_assert_uint_eq(time_of_event(3), END_NS);
	ck_assert_uint_eq(time_of_event(0), END_NS - 60 * 1000);
	ck_assert_uint_eq(time_of_event(2), END_NS - 30 * 1000);
	ck_assert_uint_eq(attr_ns(&archive->attr.create_time), END_NS - 60 * 1000);
}
END_TEST

START_TEST(set_tick_scales_all_times)
{
	static const struct {
		double tick_ns;
		uint64_t resolution_ns;
		uint64_t ns; /* 60 ticks */
	} ticks[] = {
		{1, 1, 60},
		{100, 100, 6000},
		{0.25, 1, 15},
		{33.5, 33, 2010},
		{1e-9, 1, 0},
		{1e9, 1000000000, UINT64_C(60000000000)},
		{1e15, UINT64_C(1000000000000000), UINT64_C(60000000000000000)},
	};

	draft_simple();
	ck_assert_int_eq(open_draft(), 0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(ticks); i++) {
		ck_assert_int_eq(archive->kind->set_tick(archive, ticks[i].tick_ns), 0);
		ck_assert_double_eq(archive->info.tick_ns, ticks[i].tick_ns);
		ck_assert_uint_eq(time_of_event(0), END_NS - ticks[i].ns);
		ck_assert_uint_eq(time_of_event(3), END_NS);
		ck_assert_uint_eq(attr_ns(&archive->attr.create_time), END_NS - ticks[i].ns);
		ck_assert_uint_eq(attr_ns(&archive->attr.clock_resolution),
				  ticks[i].resolution_ns);
	}
}
END_TEST

START_TEST(modules_are_none)
{
	char text[8] = "as is";

	draft_simple();
	ck_assert_int_eq(open_draft(), 0);
	ck_assert_uint_eq(archive->kind->modules(archive, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "as is");
}
END_TEST

START_TEST(set_tick_of_no_length_is_refused)
{
	static const double wrong[] = {0, -1, -0.0, 1e-10, 1.1e15, 1e300, INFINITY, -INFINITY, NAN};

	draft_simple();
	ck_assert_int_eq(open_draft(), 0);
	for (size_t i = 0; i < PX_ARRAY_SIZE(wrong); i++)
		fails(archive->kind->set_tick(archive, wrong[i]), EINVAL);
	ck_assert_double_eq(archive->info.tick_ns, PX_FOREIGN_TICK_NS);
	ck_assert_uint_eq(time_of_event(0), END_NS - 60 * 1000);
}
END_TEST

START_TEST(next_time_before_the_epoch_is_the_epoch)
{
	draft_stamps((const uint32_t[]){0, 1000000, 2000000, 4000000000u}, 4, 0);
	ck_assert_int_eq(open_draft(), 0);
	ck_assert_int_eq(archive->kind->set_tick(archive, 1e15), 0);
	ck_assert_uint_eq(time_of_event(0), 0);
	ck_assert_uint_eq(time_of_event(2), 0);
	ck_assert_uint_eq(time_of_event(3), END_NS);
}
END_TEST

/* Facts. */

START_TEST(open_attributes_tell_of_the_file)
{
	const struct px_attr *attr;

	draft_rich(false);
	ck_assert_int_eq(open_draft(), 0);
	attr = &archive->attr;
	ck_assert(px_attr_is_valid(attr));
	ck_assert_str_eq(attr->name, "");
	ck_assert_uint_gt(strlen(attr->version), 0);
	ck_assert_uint_eq(attr->stream_policy, PX_POLICY_LOOP);
	ck_assert_uint_eq(attr->log_policy, PX_POLICY_LOOP);
	ck_assert_uint_eq(attr->max_data_size, 16);
	ck_assert_uint_eq(attr->stream_size, 14 * DRAFT_ENTRY_BYTES);
	ck_assert_uint_eq(attr->log_size, draft.size);
	ck_assert_uint_eq(attr_ns(&attr->create_time), 0); /* no call has asked for it yet */
	archive->kind->complete_info(archive);
	ck_assert_uint_eq(attr_ns(&attr->create_time), time_of_event(0));
	ck_assert(!archive->status.is_full && !archive->status.is_overrun);
	ck_assert(!archive->status.log_is_full && !archive->status.log_is_overrun);
	ck_assert_int_eq(archive->status.flush_error, 0);
	ck_assert_uint_eq(
		archive->loss.overwritten + archive->loss.dropped + archive->loss.abandoned, 0);
	ck_assert(!archive->info.was_text);
}
END_TEST

START_TEST(type_lists_what_is_predefined_and_what_occurs)
{
	static const unsigned int expected[] = {1,
						2,
						3,
						4,
						5,
						6,
						7,
						8,
						9,
						10,
						11,
						12,
						13,
						14,
						15,
						16,
						PX_FOREIGN_TYPES,
						PX_FOREIGN_TYPES + 3,
						PX_FOREIGN_TYPES + 83,
						PX_FOREIGN_TYPES + 1500,
						PX_FOREIGN_TYPES + 4113,
						PX_FOREIGN_TYPES + 65535,
						0,
						0};

	draft_rich(false);
	ck_assert_int_eq(open_draft(), 0);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(expected); i++)
		ck_assert_uint_eq(archive->kind->type(archive, i), expected[i]);
}
END_TEST

static void has_name(unsigned int type, const char *expected)
{
	char name[PX_NAME_MAX + 1];

	ck_assert_msg(archive->kind->type_name(archive, type, name) == 0, "%s", expected);
	ck_assert_str_eq(name, expected);
}

START_TEST(type_name_of_each_kind_is_returned)
{
	char name[PX_NAME_MAX + 1] = "untouched";

	draft_rich(_i == 1);
	ck_assert_int_eq(open_draft(), 0);
	has_name(PX_FOREIGN_TYPES + 83, "TX_TRACE_SEMAPHORE_GET");
	has_name(PX_FOREIGN_TYPES + 3, "TX_TRACE_ISR_ENTER");
	has_name(PX_FOREIGN_TYPES + 0, "TX_TRACE_0");
	has_name(PX_FOREIGN_TYPES + 1500, "TX_TRACE_1500");
	has_name(PX_FOREIGN_TYPES + 4113, "a user event");
	has_name(PX_FOREIGN_TYPES + 65535, "TX_TRACE_USER_EVENT_65535");
	has_name(PX_EVENT_START, "posix_trace_start");
	has_name(PX_EVENT_FLUSH_STOP, "posix_trace_flush_stop");
	has_name(PX_EVENT_UNNAMED, "posix_trace_unnamed_userevent");
	strcpy(name, "untouched");
	fails(archive->kind->type_name(archive, PX_FOREIGN_TYPES + 84, name), EINVAL);
	fails(archive->kind->type_name(archive, PX_FOREIGN_TYPES + 4096, name), EINVAL);
	fails(archive->kind->type_name(archive, PX_FOREIGN_TYPES + 65536, name), EINVAL);
	fails(archive->kind->type_name(archive, PX_FOREIGN_TYPES - 1, name), EINVAL);
	fails(archive->kind->type_name(archive, UINT32_MAX, name), EINVAL);
	for (unsigned int id = 0; id < 4200; id++)
		if (id == 0 || (id > PX_EVENT_SYSTEM_LAST && id != 16))
			fails(archive->kind->type_name(archive, id, name), EINVAL);
	ck_assert_str_eq(name, "untouched");
}
END_TEST

START_TEST(type_name_of_user_events_is_the_first_objects_of_type_15)
{
	char longest[64];

	memset(longest, 'x', 63);
	longest[63] = '\0';
	draft_begin(false, 63);
	draft_add_object(1, 0x0F000000, "a thread with that handle");
	draft_add_object(15, 0x0F000000, "first");
	draft_add_object(15, 0x0F000000, "second");
	draft_add_object(15, 0x0F000001, "");
	draft_add_object(15, 0x0F000002, longest);
	draft_add_object(15, 0x0F000000 + 65535 - 4096, "last");
	draft_add_object(15, 0x0F000000 + 65536 - 4096, "beyond");
	draft_add_object(15, 0x0E000003, "other handle");
	draft_begin_events();
	for (uint32_t i = 0; i < 4; i++)
		draft_add_event(THREAD, 4096 + i, i);
	draft_add_event(THREAD, 65535, 5);
	draft_end();
	accepted();
	has_name(PX_FOREIGN_TYPES + 4096, "first");
	has_name(PX_FOREIGN_TYPES + 4097, "TX_TRACE_USER_EVENT_4097");
	has_name(PX_FOREIGN_TYPES + 4098, longest + 63 - PX_NAME_MAX);
	has_name(PX_FOREIGN_TYPES + 4099, "TX_TRACE_USER_EVENT_4099");
	has_name(PX_FOREIGN_TYPES + 65535, "last");
}
END_TEST

/* Refusals. */

START_TEST(open_bad_header_is_refused)
{
	draft_simple();
	draft_put_at(0, 0x54585443, 4);
	refused(TXTB_BAD_ID);
	for (uint32_t size = 64; size < 65536; size += size < 300 ? 1 : 4093) {
		draft_simple();
		draft_put_at(18, size, 2);
		refused(TXTB_BAD_HEADER);
	}
	for (size_t size = 0; size < 48; size++) {
		draft_simple();
		draft.size = size;
		ck_assert(!agreed());
	}
}
END_TEST

START_TEST(open_bad_registry_is_refused)
{
	static const uint32_t ends[] = {DRAFT_BASE + 48, DRAFT_BASE + 47, 0, 1};

	for (size_t i = 0; i < PX_ARRAY_SIZE(ends); i++) {
		draft_simple();
		draft.registry_end = ends[i];
		draft_end();
		refused(TXTB_BAD_REGISTRY);
	}
	draft_simple();
	draft.registry_end = UINT32_MAX; /* far more than the file has */
	draft_end();
	refused(TXTB_CUT_REGISTRY);
}
END_TEST

START_TEST(open_bad_buffer_is_refused)
{
	draft_simple();
	draft.buffer_end = draft.buffer_start;
	draft_end();
	refused(TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start - 1;
	draft_end();
	refused(TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start + 0x08000000;
	draft_end();
	refused(TXTB_BAD_BUFFER);
	draft.buffer_end = draft.buffer_start + 0x07FFFFFF;
	draft_end();
	refused(TXTB_CUT_BUFFER); /* 4 of 4,194,303 events, and no hole */

	/* The same with a hole: the reader accepts the largest length, but no larger one. */
	draft_put(0, 4);
	for (uint32_t i = 0; i < 7; i++)
		draft_put(0, 4);
	accepted();
	ck_assert_uint_eq(archive->info.nr_entry_slots, 4194303);
	draft.buffer_end = draft.buffer_start + 0x08000000;
	draft_end();
	refused(TXTB_BAD_BUFFER);
}
END_TEST

START_TEST(open_addresses_anywhere_make_no_difference)
{
	static const uint32_t bases[] = {0, 0x20000000, 0x7FFFFF00, 0x80000000, 0xFFFFF000};

	for (size_t i = 0; i < PX_ARRAY_SIZE(bases); i++) {
		draft_rich(i % 2);
		draft.registry_end += bases[i] - draft.registry_start;
		draft.registry_start = bases[i];
		draft.buffer_end += bases[i] - draft.buffer_start;
		draft.current += bases[i] - draft.buffer_start;
		draft.buffer_start = bases[i];
		draft_end();
		accepted();
	}
}
END_TEST

START_TEST(open_file_cut_anywhere_is_as_the_checker_says)
{
	size_t whole;
	bool was_accepted = false;

	draft_rich(_i == 1);
	whole = draft.size;
	for (draft.size = 0; draft.size < whole; draft.size++)
		ck_assert(!agreed());
	accepted();

	/* The same with holes: the events after a hole may be missing. */
	draft.size = whole;
	draft_put_at(draft.buffer_start - DRAFT_BASE + 5 * DRAFT_ENTRY_BYTES, 0, 4);
	for (draft.size = 0; draft.size <= whole; draft.size++) {
		bool is_accepted = agreed();

		ck_assert(is_accepted || !was_accepted);
		ck_assert_int_eq(is_accepted, draft.size >= draft.buffer_start - DRAFT_BASE + 6 * DRAFT_ENTRY_BYTES);
		was_accepted = is_accepted;
	}
}
END_TEST

/* Important words get interesting values, other bytes get random values, and the file is cut. */
static void mutate(uint64_t *state)
{
	static const uint32_t values[] = {
		0,	    1,		2,	    16,		32,	    47,
		48,	    63,		64,	    100,	0x7FFFFFFF, 0x80000000,
		0x07FFFFFF, 0x08000000, 0xFFFFFFFF, 0xF0F0F0F0, 0xFFFFFFE0};
	uint64_t nr_changes = 1 + next_random(state) % 4;

	for (uint64_t i = 0; i < nr_changes; i++) {
		size_t word = next_random(state) % 2 ? next_random(state) % 12 :
						       next_random(state) % (draft.size / 4);
		uint64_t how = next_random(state) % 4;

		if (how == 0)
			draft_put_at(word * 4, values[next_random(state) % PX_ARRAY_SIZE(values)], 4);
		else if (how == 1)
			draft.bytes[word * 4 + next_random(state) % 4] =
				(unsigned char)next_random(state);
		else if (how == 2)
			draft.bytes[word * 4 + next_random(state) % 4] ^=
				(unsigned char)(1 << next_random(state) % 8);
		else
			draft_put_at(word * 4, (uint32_t)(DRAFT_BASE + next_random(state) % 1024), 4);
	}
	if (next_random(state) % 4 == 0)
		draft.size = next_random(state) % (draft.size + 1);
}

START_TEST(open_mutated_file_is_as_the_checker_says)
{
	uint64_t state = test_seed();
	unsigned int nr_accepted = 0;

	for (int round = 0; round < 6000; round++) {
		uint64_t before = state;
		const char *difference;

		draft_rich(next_random(&state) % 2);
		mutate(&state);
		difference = compare_bytes(draft.bytes, draft.size);
		ck_assert_msg(!difference, "round %d, state %" PRIu64 ": %s", round, before,
			      difference);
		nr_accepted += archive != NULL;
	}
	printf("%u of 6000 mutated files accepted\n", nr_accepted);
	ck_assert_uint_gt(nr_accepted, 500);
	ck_assert_uint_lt(nr_accepted, 5500);
}
END_TEST

/* Descriptors. */

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(open_other_descriptors_are_refused)
{
	int fd, ends[2];

	fails(px_archive_txtb_open(-1, false, &archive), EINVAL);
	fails(px_archive_txtb_open(250, false, &archive), EINVAL);
	ck_assert_int_eq(pipe(ends), 0);
	fails(px_archive_txtb_open(ends[0], false, &archive), EINVAL);
	close(ends[0]);
	close(ends[1]);
	fd = open("/", O_RDONLY | O_DIRECTORY);
	fails(px_archive_txtb_open(fd, false, &archive), EINVAL);
	close(fd);
	fd = open("/dev/zero", O_RDONLY);
	fails(px_archive_txtb_open(fd, false, &archive), EINVAL);
	close(fd);
	ck_assert_ptr_null(archive);
}
END_TEST

START_TEST(open_needs_reading_only)
{
	char path[64];
	int fd, other;

	draft_simple();
	fd = make_file(draft.bytes, draft.size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_WRONLY);
	ck_assert_int_ge(other, 0);
	fails(px_archive_txtb_open(other, false, &archive), EINVAL);
	close(other);
	other = open(path, O_PATH);
	fails(px_archive_txtb_open(other, false, &archive), EINVAL);
	close(other);
	other = open(path, O_RDONLY);
	ok(px_archive_txtb_open(other, false, &archive));
	close(other);
	close(fd);
	close_archive();
}
END_TEST

START_TEST(open_leaves_the_callers_descriptor_alone)
{
	int nr_before = count_descriptors();
	int nr_ours = 0, fd;

	draft_simple();
	fd = make_file(draft.bytes, draft.size);
	ck_assert_int_eq(lseek(fd, 17, SEEK_SET), 17);
	errno = 1234;
	ok(px_archive_txtb_open(fd, false, &archive));
	archive->kind->complete_info(archive);
	ck_assert_int_eq(errno, 1234);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 17);
	ck_assert_int_eq(close(fd), 0);
	for (fd = 3; fd < 256; fd++)
		nr_ours += fcntl(fd, F_GETFD) == FD_CLOEXEC;
	ck_assert_int_gt(nr_ours, 0);
	ck_assert_int_eq(count_descriptors(), nr_before + 1);
	ck_assert_uint_eq(time_of_event(3), END_NS);
	close_archive();
	ck_assert_int_eq(count_descriptors(), nr_before);

	/* A call that fails leaves no descriptor either, whatever its error is. */
	for (size_t size = 0; size < draft.size; size++) {
		errno = 1234;
		fails(open_bytes(draft.bytes, size), EINVAL);
		ck_assert_int_eq(errno, 1234);
	}
	fails(px_archive_txtb_open(-1, false, &archive), EINVAL);
	ck_assert_int_eq(errno, 1234);
	fails(open_bytes("42545854", 8), EINVAL);
	fails(open_bytes("no trace", 8), EINVAL);
	ck_assert_int_eq(count_descriptors(), nr_before);
}
END_TEST

START_TEST(open_without_descriptors_left_is_emfile)
{
	struct rlimit limit, before;
	int fd, last;

	draft_simple();
	fd = make_file(draft.bytes, draft.size);
	last = dup(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)last;
	close(last);
	while ((last = dup(fd)) >= 0 && last < (int)limit.rlim_cur - 1)
		;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (dup(fd) >= 0)
		;
	fails(px_archive_txtb_open(fd, false, &archive), EMFILE);
	limit.rlim_cur = 2;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fails(px_archive_txtb_open(fd, false, &archive), EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(fd);
}
END_TEST

START_TEST(next_file_that_is_cut_meanwhile_is_an_end)
{
	size_t sizes[] = {
		0, 10, 48, 100, 500, 48 + 48 + 4000 * DRAFT_ENTRY_BYTES + 7, 48 + 48 + 5000 * DRAFT_ENTRY_BYTES};
	struct px_report report;
	uint32_t info[4];

	for (size_t k = 0; k < 2 * PX_ARRAY_SIZE(sizes); k++) {
		struct px_archive_object object;
		uint32_t n = 0;
		int fd;

		draft_begin(false, DRAFT_NAME_SIZE);
		draft_add_object(1, THREAD, "thread");
		draft_begin_events();
		for (uint32_t i = 0; i < 10000; i++)
			draft_add_event(THREAD, 4096, i);
		draft.current += 3000 * DRAFT_ENTRY_BYTES;
		draft_end();
		fd = make_file(draft.bytes, draft.size);
		ok(px_archive_txtb_open(fd, false, &archive));
		if (k % 2) /* the reader scans it first */
			ck_assert_int_eq(take(&report, info), PX_NEXT_EVENT);
		ck_assert_int_eq(ftruncate(fd, (off_t)sizes[k / 2]), 0);
		while (take(&report, info) == PX_NEXT_EVENT)
			n++;
		ck_assert_uint_le(n, 10000);
		ck_assert_int_eq(take(&report, info), PX_NEXT_NONE);
		archive->kind->object(archive, 0, &object);
		archive->kind->complete_info(archive);
		close(fd);
		close_archive();
	}
}
END_TEST

START_TEST(next_file_that_changes_meanwhile_gives_other_events)
{
	struct px_report report;
	uint32_t info[4], n = 0;
	uint64_t last_ns = 0;
	int fd;

	draft_rich(false);
	fd = make_file(draft.bytes, draft.size);
	ok(px_archive_txtb_open(fd, false, &archive));
	archive->kind->complete_info(archive);
	for (size_t i = 0; i < draft.size; i++)
		draft.bytes[i] = (unsigned char)~draft.bytes[i];
	ck_assert_int_eq(pwrite(fd, draft.bytes, draft.size, 0), (ssize_t)draft.size);
	while (take(&report, info) == PX_NEXT_EVENT) {
		n++;
		ck_assert_uint_ge(report.time_ns, last_ns);
		ck_assert_uint_le(report.time_ns, END_NS);
		last_ns = report.time_ns;
	}
	ck_assert_uint_eq(n, 14);
	close(fd);
	close_archive();
}
END_TEST

/* Text. */

static char text[4 << 20];
static size_t text_size;

static void write_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void write_text(const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text + text_size, sizeof(text) - text_size, format, arguments);
	va_end(arguments);
	if (n < 0 || (size_t)n >= sizeof(text) - text_size)
		ck_abort_msg("the text is full");
	text_size += (size_t)n;
}

static void write_digits(size_t at, size_t n, bool upper)
{
	for (size_t i = 0; i < n; i++)
		write_text(upper ? "%02X" : "%02x", draft.bytes[at + i]);
}

/* The contents of a line, which may be wrong. */
#define CHECKSUM "5A"

static void write_intel(const char *line_end)
{
	text_size = 0;
	write_text(":020000040800F2%s", line_end); /* upper half of the addresses */
	for (size_t at = 0, n; at < draft.size; at += n) {
		n = draft.size - at < 16 ? draft.size - at : 16;
		write_text(":%02X%04X00", (unsigned int)n, (unsigned int)(at & 0xFFFF));
		write_digits(at, n, at % 32);
		write_text(CHECKSUM "%s", line_end);
	}
	write_text(":00000001FF%s", line_end);
}

static void write_motorola(unsigned int type, const char *line_end)
{
	text_size = 0;
	write_text("S00600004844521B%s", line_end);
	for (size_t at = 0, n; at < draft.size; at += n) {
		n = draft.size - at < 28 ? draft.size - at : 28;
		write_text("S%u%02X%0*X", type, (unsigned int)n + type + 2, (int)(2 * type + 2),
			   (unsigned int)(at & 0xFFFF));
		write_digits(at, n, true);
		write_text(CHECKSUM "%s", line_end);
	}
	write_text("S5030004F8%s", line_end);
	write_text("S%u030000FC%s", 10 - type, line_end);
}

static void write_bare(size_t line, const char *line_end)
{
	text_size = 0;
	for (size_t at = 0; at < draft.size; at++) {
		write_digits(at, 1, false);
		if (line && at % line == line - 1)
			write_text("%s", line_end);
	}
}

/* The reader reads the text as it reads the draft. */
static void text_is_read(void)
{
	const char *difference;

	ck_assert_str_eq(txtb_verdict_name(draft_check(draft.bytes, draft.size, &trace)), "accepted");
	ck_assert_int_eq(open_bytes(text, text_size), 0);
	ck_assert(archive->info.was_text);
	difference = compare_contents();
	ck_assert_msg(!difference, "not as the checker says: %s", difference);
}

static const char *const line_ends[] = {"\n", "\r\n", "\r", "\n\n\r\n"};

START_TEST(text_of_any_form_is_read_like_the_file)
{
	const char *line_end = line_ends[_i / 2];

	draft_rich(_i % 2);
	write_intel(line_end);
	text_is_read();
	for (unsigned int type = 1; type <= 3; type++) {
		write_motorola(type, line_end);
		text_is_read();
	}
	for (size_t line = 0; line < 40; line++) {
		write_bare(line, line_end);
		text_is_read();
	}
}
END_TEST

START_TEST(text_of_many_chunks_is_read_like_the_file)
{
	draft_begin(_i == 1, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < 9000; i++)
		draft_add_event(THREAD, i, i);
	draft.current += 5000 * DRAFT_ENTRY_BYTES;
	draft_end();
	write_intel("\r\n");
	text_is_read();
	write_motorola(2, "\n");
	text_is_read();
	write_bare(33, "\n");
	text_is_read();
	write_bare(0, "");
	text_is_read();
}
END_TEST

START_TEST(text_line_breaks_anywhere_between_bare_digits_are_passed_over)
{
	draft_simple();
	text_size = 0;
	for (size_t at = 0; at < draft.size; at++)
		write_text("%x\r\n%X\n", draft.bytes[at] >> 4, draft.bytes[at] & 15);
	text_is_read();
	text_size = 0;
	write_text("\n\r\n\n");
	write_digits(0, draft.size, true);
	text_is_read();
	/* More line breaks than a chunk holds, also before the first digits. */
	text_size = 0;
	for (size_t at = 0; at < draft.size; at++) {
		memset(text + text_size, '\n', 70000);
		text_size += at < 6 ? 70000 : 0;
		write_digits(at, 1, true);
	}
	text_is_read();
}
END_TEST

START_TEST(text_behind_an_end_record_is_not_looked_at)
{
	draft_simple();
	write_intel("\n");
	write_text("garbage\n:zz");
	text_is_read();
	write_motorola(3, "\n");
	write_text("garbage\nS");
	text_is_read();
}
END_TEST

START_TEST(text_without_end_record_ends_with_the_file)
{
	draft_simple();
	write_intel("\n");
	text_size -= strlen("\n:00000001FF\n");
	text_is_read();
	write_motorola(1, "\r\n");
	text_size -= strlen("\r\nS5030004F8\r\nS9030000FC\r\n");
	text_is_read();
}
END_TEST

/* If a text is cut anywhere, the reader refuses it, or the rest did not matter. */
START_TEST(text_cut_anywhere_is_refused_or_whole)
{
	size_t whole;

	draft_simple();
	for (int form = 0; form < 3; form++) {
		bool was_accepted = false;

		if (form == 0)
			write_intel("\n");
		else if (form == 1)
			write_motorola(2, "\n");
		else
			write_bare(16, "\n");
		whole = text_size;
		for (size_t size = 0; size <= whole; size++) {
			int error = open_bytes(text, size);

			ck_assert(error == 0 || error == EINVAL);
			ck_assert_msg(error == EINVAL || size + 64 > whole, "form %d cut at %zu",
				      form, size);
			was_accepted = error == 0;
		}
		ck_assert(was_accepted);
	}
}
END_TEST

START_TEST(text_of_garbage_is_refused)
{
	static const char *const garbage[] = {
		"no trace at all",
		"    ",
		"\n\n\n\n\n",
		"deadbeef",
		"42545854",
		"4254585",
		"42 54 58 54",
		"0x42545854",
		":",
		":00000001FF",
		":0400000042545854",
		":04000000425458545A5A\n",
		":0400000042545854\n5A",
		":04000000425458:5A\n",
		"S",
		"S1",
		"SA",
		"S105000042545854\n",
		"S100\n",
		"S1020000\n",
		"S11300004254",
		"S9030000FC",
		"S7",
		"s10700004254585400\n",
		":04000000425458545A\nS107000042545854FF\n",
		":04000000425458545A:04000000425458545A\n",
	};
	int nr_before = count_descriptors();

	for (size_t i = 0; i < PX_ARRAY_SIZE(garbage); i++)
		ck_assert_msg(open_bytes(garbage[i], strlen(garbage[i])) == EINVAL, "%s",
			      garbage[i]);
	ck_assert_int_eq(count_descriptors(), nr_before);
}
END_TEST

/* Even if all the rest is right. */
START_TEST(text_with_a_bad_line_is_refused)
{
	static const struct {
		char form;
		const char *line;
		int error;
	} lines[] = {
		{':', "", 0},
		{':', ":00000000FF\n", 0},
		{':', ":02000004ABCDFF\n", 0},
		{':', ":", EINVAL},
		{':', ":\n", EINVAL},
		{':', ":00\n", EINVAL},
		{':', ":00000000\n", EINVAL},
		{':', ":00000000F\n", EINVAL},
		{':', ":00000000FFF\n", EINVAL},
		{':', ":00000000FFFF\n", EINVAL},
		{':', ":01000000FF\n", EINVAL},
		{':', ":00000000F:\n", EINVAL},
		{':', ":00000000 FF\n", EINVAL},
		{':', "00000000FF\n", EINVAL},
		{':', " \n", EINVAL},
		{':', "x00000000FF\n", EINVAL},
		{':', "S0030000FC\n", EINVAL},
		{'S', "", 0},
		{'S', "S1030000FC\n", 0},
		{'S', "S2040000FCFF\n", 0},
		{'S', "S305000000FCFF\n", 0},
		{'S', "S600\n", 0},
		{'S', "S", EINVAL},
		{'S', "S\n", EINVAL},
		{'S', "S1\n", EINVAL},
		{'S', "S100\n", EINVAL},
		{'S', "S1020000\n", EINVAL},
		{'S', "S1030000F\n", EINVAL},
		{'S', "S1030000FCC\n", EINVAL},
		{'S', "S1030000FCCC\n", EINVAL},
		{'S', "S2030000FC\n", EINVAL},
		{'S', "S304000000FC\n", EINVAL},
		{'S', "S1040000FC\n", EINVAL},
		{'S', "SA030000FC\n", EINVAL},
		{'S', "S:030000FC\n", EINVAL},
		{'S', "S/030000FC\n", EINVAL},
		{'S', "1030000FC\n", EINVAL},
		{'S', ":00000000FF\n", EINVAL},
		{'S', "s1030000FC\n", EINVAL},
		{'x', "\n", 0},
		{'x', "G", EINVAL},
		{'x', " ", EINVAL},
		{'x', ":", EINVAL},
		{'x', "S", EINVAL},
	};

	for (size_t i = 0; i < PX_ARRAY_SIZE(lines); i++) {
		size_t length = strlen(lines[i].line), first;

		draft_simple();
		if (lines[i].form == 'x')
			write_bare(16, "\n");
		else if (lines[i].form == ':')
			write_intel("\n");
		else
			write_motorola(1, "\n");
		first = strcspn(text, "\n") + 1;
		memmove(text + first + length, text + first, text_size - first);
		memcpy(text + first, lines[i].line, length);
		text_size += length;
		ck_assert_msg(open_bytes(text, text_size) == lines[i].error, "%c: %s",
			      lines[i].form, lines[i].line);
		if (lines[i].error == 0)
			text_is_read();
	}
}
END_TEST

START_TEST(text_of_an_odd_digit_is_refused)
{
	draft_simple();
	write_bare(0, "");
	write_text("55"); /* bytes behind the last slot */
	ck_assert_int_eq(open_bytes(text, text_size), 0);
	write_text("5");
	fails(open_bytes(text, text_size), EINVAL);
	write_text("\n");
	fails(open_bytes(text, text_size), EINVAL);
	write_intel("\n"); /* also after the end record */
	text_size--;
	write_text("5\n");
	fails(open_bytes(text, text_size), EINVAL);
}
END_TEST

START_TEST(text_mutated_does_no_harm)
{
	static const char often[] = "0123456789ABCDEFabcdef:S\n\r G\0";
	uint64_t state = test_seed();

	for (int round = 0; round < 3000; round++) {
		struct px_report report;
		uint32_t info[4];
		int error;

		draft_rich(round % 2);
		if (round % 3 == 0)
			write_intel(line_ends[round % 4]);
		else if (round % 3 == 1)
			write_motorola(1 + (unsigned int)round % 3, "\n");
		else
			write_bare(20, "\n");
		for (uint64_t n = 1 + next_random(&state) % 3; n > 0; n--)
			text[next_random(&state) % text_size] =
				often[next_random(&state) % sizeof(often)];
		error = open_bytes(text, text_size);
		ck_assert(error == 0 || error == EINVAL);
		while (archive && take(&report, info) == PX_NEXT_EVENT)
			;
	}
}
END_TEST

/* The call fails, and no signal kills the process because the file is too large. */
START_TEST(text_beyond_the_file_size_limit_is_no_memory)
{
	struct rlimit limit, before;
	int error, fd;

	draft_rich(false);
	write_bare(0, "");
	fd = make_file(text, text_size);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 100;
	setrlimit(RLIMIT_FSIZE, &limit); /* Check also writes a file, so it must not write in this process */
	error = px_archive_txtb_open(fd, false, &archive);
	setrlimit(RLIMIT_FSIZE, &before);
	fails(error, ENOMEM);
	close(fd);
}
END_TEST

/* The table of ids. */

static const struct {
	uint32_t id;
	const char *name;
	const char *label[4];
	const char *viewer_name;
} natives[] = {
#define PX_NATIVE(id, name, group, label1, label2, label3, label4, viewer_name)                    \
	{id, #name, {#label1, #label2, #label3, #label4}, viewer_name},
#include "txtb/txtb-events.def"
};

START_TEST(native_every_row_is_found)
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(natives); i++) {
		ck_assert_str_eq(px_native_name(natives[i].id), natives[i].name);
		for (unsigned int k = 0; k < 4; k++) {
			const char *label = px_native_label(natives[i].id, k);

			ck_assert_str_eq(label ? label : "none", natives[i].label[k]);
		}
		ck_assert_int_eq(px_native_is_in_viewer(natives[i].id),
				 natives[i].viewer_name[0] != '\0');
		ck_assert_ptr_null(px_native_label(natives[i].id, 4));
		ck_assert_ptr_null(px_native_label(natives[i].id, UINT32_MAX));
	}
}
END_TEST

START_TEST(native_other_ids_have_neither_name_nor_label)
{
	size_t row = 0;

	for (uint32_t id = 0; id < 70000; id++) {
		if (row < PX_ARRAY_SIZE(natives) && natives[row].id == id) {
			row++;
			continue;
		}
		if (px_native_name(id) || px_native_label(id, 0) || px_native_is_in_viewer(id))
			ck_abort_msg("%u has a name", id);
	}
	ck_assert_uint_eq(row, PX_ARRAY_SIZE(natives));
	ck_assert_ptr_null(px_native_name(UINT32_MAX));
}
END_TEST

/* The names in the table are the names in a file, cut to the length of a POSIX name. */
START_TEST(type_name_of_every_native_id_is_its_constant)
{
	char name[PX_NAME_MAX + 1];

	draft_begin(false, DRAFT_NAME_SIZE);
	draft_add_object(1, THREAD, "thread");
	draft_begin_events();
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(natives); i++)
		draft_add_event(THREAD, natives[i].id, i);
	draft_end();
	accepted();
	for (size_t i = 0; i < PX_ARRAY_SIZE(natives); i++) {
		snprintf(name, sizeof(name), "%.*s", PX_NAME_MAX, natives[i].name);
		has_name(PX_FOREIGN_TYPES + natives[i].id, name);
	}
}
END_TEST

/* The traces that tests/data/ describes. */

static const struct {
	const char *name;
	uint32_t nr_events, nr_objects;
	const char *object; /* one that it has */
	unsigned int id;    /* one that occurs */
	const char *type_name;
} described[] = {
	{"threadx", 223, 15, "alarms", 69, "TX_TRACE_QUEUE_SEND"},
	{"filex", 220, 8, "LOG.TXT", 247, "FX_TRACE_FILE_OPEN"},
	{"netx_tcp", 257, 16, "client socket", 421, "NX_TRACE_TCP_SOCKET_SEND"},
	{"netx_udp", 177, 10, "pool", 436, "NX_TRACE_UDP_SOCKET_SEND"},
};

static bool has_object(const char *name)
{
	struct px_archive_object object;
	uint32_t slot = 0;

	while (next_object(&slot, &object))
		if (strcmp(object.name, name) == 0)
			return true;
	return false;
}

START_TEST(described_trace_is_read_as_the_checker_says)
{
	char name[PX_NAME_MAX + 1];

	draft_begin(false, 0);
	draft.size = px_test_make_trace(described[_i].name, draft.bytes, sizeof(draft.bytes));
	accepted();
	ck_assert_uint_eq(archive->info.nr_entries, described[_i].nr_events);
	ck_assert_uint_eq(trace.nr_registered, described[_i].nr_objects);
	ck_assert(has_object(described[_i].object));
	has_name(PX_FOREIGN_TYPES + described[_i].id, described[_i].type_name);
	for (uint32_t i = 0; archive->kind->type(archive, i) != PX_EVENT_NONE; i++)
		ck_assert_int_eq(
			archive->kind->type_name(archive, archive->kind->type(archive, i), name),
			0);
	write_intel("\r\n");
	text_is_read();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("archive_txtb");
	TCase *contents = tcase_create("contents");
	TCase *refusals = tcase_create("refusals");
	TCase *texts = tcase_create("texts");
	TCase *table = tcase_create("table");

	tcase_set_timeout(contents, 60);
	tcase_add_loop_test(contents, open_either_byte_order_reads_the_same, 0, 2);
	tcase_add_loop_test(contents, open_any_name_size_below_64_is_read, 0, 64);
	tcase_add_loop_test(contents, open_registry_of_many_objects_is_read, 0, 2);
	tcase_add_test(contents, object_in_any_order_is_the_same);
	tcase_add_test(contents, open_duplicate_handles_are_all_listed);
	tcase_add_test(contents, open_trailing_bytes_are_ignored);
	tcase_add_test(contents, open_registry_with_slack_shifts_the_events);
	tcase_add_test(contents, open_registry_of_4_gigabytes_is_searched_up_to_a_bound);
	tcase_add_loop_test(contents, next_core_bits_are_the_cpu, 0, 2);
	tcase_add_loop_test(contents, next_data_is_cut_at_the_capacity, 0, 2);
	tcase_add_loop_test(contents, next_wrapped_file_begins_at_current, 0, 10);
	tcase_add_test(contents, next_current_that_is_no_slot_leaves_the_file_order);
	tcase_add_test(contents, next_stops_at_the_first_hole);
	tcase_add_loop_test(contents, next_long_file_is_read_through_windows, 0, 5);
	tcase_add_test(contents, open_few_events_are_read);
	tcase_add_test(contents, open_buffer_of_less_than_a_slot_is_empty);
	tcase_add_loop_test(contents, next_time_is_unwrapped_in_the_voted_direction, 0,
			    PX_ARRAY_SIZE(times));
	tcase_add_test(contents, next_random_stamps_come_out_as_the_checker_says);
	tcase_add_test(contents, next_last_event_is_when_the_file_was_modified);
	tcase_add_test(contents, set_tick_scales_all_times);
	tcase_add_test(contents, set_tick_of_no_length_is_refused);
	tcase_add_test(contents, modules_are_none);
	tcase_add_test(contents, next_time_before_the_epoch_is_the_epoch);
	tcase_add_test(contents, open_attributes_tell_of_the_file);
	tcase_add_test(contents, type_lists_what_is_predefined_and_what_occurs);
	tcase_add_loop_test(contents, type_name_of_each_kind_is_returned, 0, 2);
	tcase_add_test(contents, type_name_of_user_events_is_the_first_objects_of_type_15);
	tcase_add_loop_test(contents, described_trace_is_read_as_the_checker_says, 0,
			    PX_ARRAY_SIZE(described));
	suite_add_tcase(suite, contents);

	tcase_set_timeout(refusals, 120);
	tcase_add_test(refusals, open_bad_header_is_refused);
	tcase_add_test(refusals, open_bad_registry_is_refused);
	tcase_add_test(refusals, open_bad_buffer_is_refused);
	tcase_add_test(refusals, open_addresses_anywhere_make_no_difference);
	tcase_add_loop_test(refusals, open_file_cut_anywhere_is_as_the_checker_says, 0, 2);
	tcase_add_test(refusals, open_mutated_file_is_as_the_checker_says);
	tcase_add_test(refusals, open_other_descriptors_are_refused);
	tcase_add_test(refusals, open_needs_reading_only);
	tcase_add_test(refusals, open_leaves_the_callers_descriptor_alone);
	tcase_add_test(refusals, open_without_descriptors_left_is_emfile);
	tcase_add_test(refusals, next_file_that_is_cut_meanwhile_is_an_end);
	tcase_add_test(refusals, next_file_that_changes_meanwhile_gives_other_events);
	suite_add_tcase(suite, refusals);

	tcase_set_timeout(texts, 60);
	tcase_add_loop_test(texts, text_of_any_form_is_read_like_the_file, 0, 8);
	tcase_add_loop_test(texts, text_of_many_chunks_is_read_like_the_file, 0, 2);
	tcase_add_test(texts, text_line_breaks_anywhere_between_bare_digits_are_passed_over);
	tcase_add_test(texts, text_behind_an_end_record_is_not_looked_at);
	tcase_add_test(texts, text_without_end_record_ends_with_the_file);
	tcase_add_test(texts, text_cut_anywhere_is_refused_or_whole);
	tcase_add_test(texts, text_of_garbage_is_refused);
	tcase_add_test(texts, text_with_a_bad_line_is_refused);
	tcase_add_test(texts, text_of_an_odd_digit_is_refused);
	tcase_add_test(texts, text_mutated_does_no_harm);
	tcase_add_test(texts, text_beyond_the_file_size_limit_is_no_memory);
	suite_add_tcase(suite, texts);

	tcase_add_test(table, native_every_row_is_found);
	tcase_add_test(table, native_other_ids_have_neither_name_nor_label);
	tcase_add_test(table, type_name_of_every_native_id_is_its_constant);
	suite_add_tcase(suite, table);

	return run_suite(suite);
}
