/* SPDX-License-Identifier: MIT */
/*
 * Logs that are read while they are written: at each write, a new reader opens the log, and earlier readers go on.
 * They report complete events in order, and count the events that they miss.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/archive_log.h"

#define DATA 40
#define NR_SLOW 8

/* Check writes each assertion to a file, and this test makes millions.  So call Check only for those that fail. */
#define expect(condition)                                                                          \
	do                                                                                         \
		if (!(condition))                                                                  \
			ck_abort_msg("not so: " #condition);                                       \
	while (0)

static trace_event_id_t type;
static int file;
static trace_id_t stream;
static uint32_t nr_recorded;

struct payload {
	uint32_t number;
	unsigned char bytes[DATA];
};

/* A reader that stays open. */
struct reader {
	struct px_archive *archive;
	uint32_t next;
	uint64_t nr_skipped;
	bool has_begun;
	bool is_marked; /* an OVERFLOW came after the last event */
};

static struct reader slow[NR_SLOW];
static unsigned int nr_looks, nr_opened, nr_missed;
static bool is_ending, can_miss;
static uint64_t final_size;
static uint32_t final_slots;

/* Long events, then short ones, so that a LOOP log overwrites entries before their frames, or after them. */
static size_t length_of(uint32_t number)
{
	return number / 700 % 2 ? sizeof(struct payload) - DATA + 12 : sizeof(struct payload);
}

static void record(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct payload payload = {.number = nr_recorded};

		px_test_fill(payload.bytes, sizeof(payload.bytes), nr_recorded);
		posix_trace_event(type, &payload, length_of(nr_recorded));
		nr_recorded++;
	}
}

/* Read at most this many events.  Return false at the end. */
static bool read_some(struct reader *reader, uint32_t most)
{
	struct payload payload;
	struct px_report report;

	while (most > 0) {
		if (reader->archive->kind->next(reader->archive, &payload, sizeof(payload),
						&report) != PX_NEXT_EVENT)
			return false;
		reader->is_marked |= report.record.id == POSIX_TRACE_OVERFLOW;
		if (report.record.id != type)
			continue;
		expect(report.length == length_of(payload.number));
		expect(px_test_is_filled(payload.bytes, report.length - sizeof(payload.number),
					 payload.number));
		expect(payload.number < nr_recorded);
		if (reader->has_begun) {
			expect(payload.number >= reader->next);
			expect(payload.number == reader->next || reader->is_marked);
			reader->nr_skipped += payload.number - reader->next;
		}
		reader->has_begun = true;
		reader->is_marked = false;
		reader->next = payload.number + 1;
		most--;
	}
	return true;
}

static void open_log(struct reader *reader)
{
	*reader = (struct reader){.next = 0};
	expect(px_archive_log_open(file, PX_ARCHIVE_RUNNING, &reader->archive) == 0);
}

static void close_log(struct reader *reader)
{
	reader->archive->kind->free(reader->archive);
	reader->archive = NULL;
}

/* A reader that reads at once misses nothing. */
static void read_at_once(void)
{
	struct reader reader;

	open_log(&reader);
	read_some(&reader, UINT32_MAX);
	expect(reader.nr_skipped == 0);
	expect(reader.archive->info.nr_missing == 0);
	close_log(&reader);
}

/* The other readers read a few events at each write.  At their end, they count what they missed. */
static void read_slowly(void)
{
	struct reader *reader = &slow[nr_looks % NR_SLOW];

	if (!reader->archive) {
		open_log(reader);
		nr_opened++;
	} else if (!read_some(reader, 200)) {
		expect(reader->nr_skipped <= reader->archive->info.nr_missing);
		nr_missed += reader->archive->info.nr_missing > 0;
		close_log(reader);
	}
}

/* When the log is complete, all readers continue at each write. */
static void read_all_slowly(void)
{
	for (int i = 0; i < NR_SLOW; i++)
		read_some(&slow[i], (uint32_t)(10 + 37 * i));
}

static void look(void)
{
	read_at_once();
	if (is_ending)
		read_all_slowly();
	else
		read_slowly();
	nr_looks++;
	px_test_at_point("log.write.before", look);
}

static void end_readers(void)
{
	for (int i = 0; i < NR_SLOW; i++)
		if (slow[i].archive) {
			read_some(&slow[i], UINT32_MAX);
			expect(slow[i].nr_skipped <= slow[i].archive->info.nr_missing);
			expect(can_miss || slow[i].archive->info.nr_missing == 0);
			close_log(&slow[i]);
		}
}

static uint64_t file_limit;

static void begin(int policy, size_t size)
{
	file = px_test_file();
	if (file_limit)
		px_test_limit_files(file_limit);
	stream = px_test_create_log(&(struct px_test_stream){.policy = POSIX_TRACE_LOOP,
							     .size = 1 << 20,
							     .max_data = sizeof(struct payload),
							     .log_policy = policy,
							     .log_size = size},
				    file);
	if (file_limit)
		px_test_unlimit_files();
	can_miss = policy == POSIX_TRACE_LOOP;
	type = px_test_open_type("counted");
	nr_looks = nr_opened = nr_missed = nr_recorded = 0;
	ok(posix_trace_start(stream));
	px_test_at_point("log.write.before", look);
}

static void write_rounds(unsigned int nr, uint32_t events)
{
	for (unsigned int i = 0; i < nr; i++) {
		record(events + i % 7);
		ok(posix_trace_flush(stream));
	}
}

static void end(void)
{
	struct reader reader = {.next = 0};

	end_readers();
	for (int i = 0; i < NR_SLOW; i++)
		open_log(&slow[i]);
	is_ending = true;
	ok(posix_trace_shutdown(stream)); /* the log moves, and readers look at each write */
	px_test_at_point("none", NULL);
	end_readers();
	ok(px_archive_log_open(file, 0, &reader.archive));
	ck_assert(!reader.archive->info.is_running);
	read_some(&reader, UINT32_MAX);
	ck_assert_uint_eq(reader.nr_skipped, 0);
	ck_assert_uint_eq(reader.next, nr_recorded);
	final_size = reader.archive->info.size;
	final_slots = reader.archive->info.nr_registry_slots;
	close_log(&reader);
	close(file);
}

/* MODEL-8 */
START_TEST(running_loop_log_is_read_at_every_write)
{
	begin(POSIX_TRACE_LOOP, 60000);
	write_rounds(60, 100);
	end();
	ck_assert_uint_gt(nr_missed, 0);
	ck_assert_uint_gt(nr_looks, 500);
}
END_TEST

START_TEST(running_append_log_is_read_at_every_write)
{
	begin(POSIX_TRACE_APPEND, 0);
	write_rounds(30, 100);
	end();
	ck_assert_uint_eq(nr_missed, 0);
}
END_TEST

/* An APPEND log of several volumes: its tail moves. */
START_TEST(running_log_of_several_volumes_is_read_at_every_write)
{
	file_limit = 6 << 20; /* if the log has files, the volumes are small */
	begin(POSIX_TRACE_APPEND, 0);
	write_rounds(60, 400);
	end();
	ck_assert_uint_eq(nr_missed, 0);
}
END_TEST

/* If a larger log has many unused bytes, it is written again, with other frames and fewer object slots. */
START_TEST(running_large_log_is_read_while_it_moves)
{
	file_limit = 12 << 20;
	begin(POSIX_TRACE_APPEND, 0);
	px_test_at_point("none", NULL);
	write_rounds(60, 2000);
	px_test_at_point("log.write.before", look);
	end();
	ck_assert_uint_gt(final_size, 4 << 20);
	ck_assert_uint_lt(final_slots, 256);
}
END_TEST

/* Cleared events are missing, and later events do not mix with them. */
START_TEST(running_log_that_is_cleared_is_read_at_every_write)
{
	begin(POSIX_TRACE_LOOP, 60000);
	for (int i = 0; i < 12; i++) {
		write_rounds(2, 100);
		ok(posix_trace_clear(stream));
	}
	write_rounds(1, 100);
	end();
}
END_TEST

/* A follower gets each event once. */
START_TEST(running_log_is_followed_to_its_end)
{
	struct reader reader;

	begin(POSIX_TRACE_APPEND, 0);
	open_log(&reader);
	for (int i = 0; i < 20; i++) {
		write_rounds(1, 50);
		ok(reader.archive->kind->extend(reader.archive));
		ck_assert(reader.archive->info.is_running);
		read_some(&reader, UINT32_MAX);
		ck_assert_uint_eq(reader.next, nr_recorded);
	}
	record(30);
	ok(posix_trace_shutdown(stream));
	ok(reader.archive->kind->extend(reader.archive));
	ck_assert(!reader.archive->info.is_running);
	read_some(&reader, UINT32_MAX);
	ck_assert_uint_eq(reader.next, nr_recorded);
	ck_assert_uint_eq(reader.nr_skipped, 0);
	close_log(&reader);
	px_test_at_point("none", NULL);
	end_readers();
	close(file);
}
END_TEST

/* A follower finds that the log has overwritten all it knew, and looks again before the writer goes on (LOOP-4). */
START_TEST(running_loop_log_is_followed_past_what_is_overwritten)
{
	struct reader reader;

	begin(POSIX_TRACE_LOOP, 60000);
	px_test_at_point("none", NULL);
	write_rounds(1, 100);
	open_log(&reader);
	for (int i = 0; i < 4; i++) {
		write_rounds(40, 100);
		read_some(&reader, UINT32_MAX);
		ok(reader.archive->kind->extend(reader.archive));
		read_some(&reader, 10);
	}
	ck_assert_uint_gt(reader.nr_skipped, 0);
	ok(posix_trace_shutdown(stream));
	read_some(&reader, UINT32_MAX);
	ok(reader.archive->kind->extend(reader.archive));
	read_some(&reader, UINT32_MAX);
	ck_assert_uint_eq(reader.next, nr_recorded);
	ck_assert_uint_le(reader.nr_skipped, reader.archive->info.nr_missing);
	close_log(&reader);
	close(file);
}
END_TEST

/* OPEN-3 */
START_TEST(open_with_flags_takes_what_open_refuses)
{
	trace_id_t log;

	begin(POSIX_TRACE_APPEND, 0);
	px_test_at_point("none", NULL);
	write_rounds(1, 10);
	fails(posix_trace_open(file, &log), EINVAL);
	fails(txtrace_open(file, 0, &log), EINVAL);
	fails(txtrace_open(file, TXTRACE_OPEN_DAMAGED, &log), EINVAL);
	fails(txtrace_open(file, 4, &log), EINVAL);
	fails(txtrace_open(file, TXTRACE_OPEN_RUNNING, NULL), EINVAL);
	ok(txtrace_open(file, TXTRACE_OPEN_RUNNING, &log));
	ok(posix_trace_close(log));
	ok(posix_trace_shutdown(stream));
	ok(txtrace_open(file, TXTRACE_OPEN_RUNNING, &log));
	ok(posix_trace_close(log));
	close(file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("running");
	TCase *tests = tcase_create("running");

	tcase_set_timeout(tests, 120);

	tcase_add_test(tests, running_loop_log_is_read_at_every_write);
	tcase_add_test(tests, running_append_log_is_read_at_every_write);
	tcase_add_test(tests, running_log_of_several_volumes_is_read_at_every_write);
	tcase_add_test(tests, running_large_log_is_read_while_it_moves);
	tcase_add_test(tests, running_log_that_is_cleared_is_read_at_every_write);
	tcase_add_test(tests, running_log_is_followed_to_its_end);
	tcase_add_test(tests, running_loop_log_is_followed_past_what_is_overwritten);
	tcase_add_test(tests, open_with_flags_takes_what_open_refuses);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
