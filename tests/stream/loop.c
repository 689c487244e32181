/* SPDX-License-Identifier: MIT */
/*
 * A looping stream: which events survive, how gaps are reported, and that the times are exact, with one ring and with
 * several.  Also the system events, because all of them occur with this policy.
 */
#include "support/common.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/compiler.h"
#include "stream/handle.h"
#include "stream/stream.h"

static const struct px_test_stream one_ring = {.size = 4096, .nr_rings = 1};

static trace_event_id_t type;
static trace_id_t stream;
static struct px_test_event seen;
static uint32_t next_number; /* number of the next recorded event */

static void setup(void)
{
	ok(posix_trace_eventid_open("looping", &type));
	stream = px_test_create(&one_ring);
	ok(posix_trace_start(stream));
}

static void teardown(void)
{
	posix_trace_shutdown(stream);
}

static void trace_next(void)
{
	px_test_trace(type, next_number++);
}

static void trace_many(uint32_t n)
{
	while (n-- > 0)
		trace_next();
}

static void expect_number(uint32_t number)
{
	px_test_expect(stream, type, &seen);
	ck_assert_uint_eq(px_test_number(&seen), number);
}

static void read_all(void)
{
	while (px_test_take(stream, &seen))
		;
}

/* Return the number of slots of a ring of this stream. */
static uint32_t capacity(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	uint32_t nr_slots = inside->view.geometry.nr_slots;

	px_handle_unlock(stream);
	return nr_slots;
}

/*
 * Return the counter of the newest record, which has this many slots.  After the event is overwritten, its time is
 * known only so.
 */
static uint64_t newest(uint32_t nr_ring, uint32_t nr_slots)
{
	struct px_stream *inside = px_handle_lock(stream);
	struct px_ring ring = px_rings_get(&inside->view.rings, nr_ring);
	uint64_t head = px_load_acquire(&ring.control->head);
	uint64_t counter = px_record_counter(&ring, head - nr_slots);

	px_handle_unlock(stream);
	return counter;
}

static void expect_time(uint64_t counter)
{
	struct px_stream *inside = px_handle_lock(stream);
	uint64_t ns = px_timeline_convert(&inside->reader.timeline, counter);

	px_handle_unlock(stream);
	ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), ns);
}

/* INFO-3 INFO-4 INFO-9: no thread and no call made the event */
static void expect_made_event(trace_event_id_t made)
{
	px_test_expect_made(stream, made, &seen);
	ck_assert_uint_eq(seen.length, 0);
}

/* Expect OVERFLOW at this time, and RESUME at the time of the next event, which has this number. */
static void expect_gap(uint64_t first_lost, uint32_t survivor)
{
	struct timespec resumed;

	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_time(first_lost);
	expect_made_event(POSIX_TRACE_RESUME);
	resumed = seen.info.posix_timestamp;
	expect_number(survivor);
	ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), px_test_ns(resumed));
}

static void expect_numbers(uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		expect_number(i);
	px_test_expect(stream, 0, &seen);
}

static unsigned long long nr_overwritten(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.dropped, 0);
	ck_assert_uint_eq(loss.abandoned, 0);
	return loss.overwritten;
}

static int overrun(void)
{
	return px_test_status(stream).posix_stream_overrun_status;
}

/* Worked sequences. */

/* SYSEV-1 SYSEV-4 SYSEV-6 START-1 STOP-1: sequence 1 */
START_TEST(loop_start_event_stop_are_reported)
{
	trace_event_set_t empty;
	int automatic = 77;

	ok(posix_trace_eventset_empty(&empty));
	trace_next();
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	ck_assert_uint_eq(seen.length, sizeof(empty));
	ck_assert_mem_eq(seen.data, &empty, sizeof(empty));
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	expect_number(0);
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	ck_assert_uint_eq(seen.length, sizeof(automatic));
	memcpy(&automatic, seen.data, sizeof(automatic));
	ck_assert_int_eq(automatic, 0);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* LOOP-2 LOOP-4 LOOP-5 SYSEV-2 SYSEV-3: sequence 3; START is among the lost events, or is not */
START_TEST(loop_events_beyond_the_capacity_leave_a_gap_and_the_newest)
{
	uint32_t slots = capacity();
	const uint32_t beyond[] = {1, 3, slots - 1, slots, slots + 1, 2 * slots + 7, 300 * slots};
	bool start_is_read = _i % 2;
	uint32_t k = beyond[_i / 2];
	uint64_t first_lost = newest(0, px_record_slots(sizeof(trace_event_set_t)));

	if (start_is_read) {
		px_test_expect(stream, POSIX_TRACE_START, &seen);
		expect_time(first_lost);
		trace_next();
		first_lost = newest(0, 1);
	}
	trace_many(slots + k - next_number);
	expect_gap(first_lost, k);
	expect_numbers(k + 1, slots + k);
	ck_assert_uint_eq(nr_overwritten(), k + !start_is_read);
}
END_TEST

/* START-2 STOP-2 SYSEV-4: sequence 6 */
START_TEST(loop_start_and_stop_without_effect_record_nothing)
{
	ok(posix_trace_start(stream));
	trace_next();
	ok(posix_trace_start(stream));
	ok(posix_trace_stop(stream));
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	expect_number(0);
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* SYSEV-9 FILT-2 MODEL-1: sequence 7 */
START_TEST(loop_everything_filtered_runs_and_stays_empty)
{
	trace_event_set_t all;

	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&one_ring);
	ok(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_set_filter(stream, &all, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	trace_next();
	px_test_expect(stream, 0, &seen);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	ok(posix_trace_stop(stream));
	px_test_expect(stream, 0, &seen);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
}
END_TEST

/* System events. */

/* SYSEV-1 SYSEV-5 SYSEV-6: event sets as data, longer than any user data here */
START_TEST(loop_system_events_carry_their_data_whole)
{
	const struct px_test_stream tiny_data = {.max_data = 1, .nr_rings = 1};
	trace_event_set_t sets[3];

	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&tiny_data);
	ok(posix_trace_eventset_empty(&sets[0]));
	ok(posix_trace_eventset_add(POSIX_TRACE_ERROR, &sets[0]));
	ok(posix_trace_eventset_fill(&sets[1], POSIX_TRACE_WOPID_EVENTS));
	ok(posix_trace_eventset_add(4095, &sets[1]));
	ok(posix_trace_eventset_fill(&sets[2], POSIX_TRACE_SYSTEM_EVENTS));
	ok(posix_trace_eventset_del(POSIX_TRACE_FILTER, &sets[2]));
	ok(posix_trace_set_filter(stream, &sets[0], POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	ok(posix_trace_set_filter(stream, &sets[1], POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_set_filter(stream, &sets[2], POSIX_TRACE_SET_EVENTSET));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	ck_assert_uint_eq(seen.length, sizeof(sets[0]));
	ck_assert_mem_eq(seen.data, &sets[0], sizeof(sets[0]));
	for (int i = 0; i < 2; i++) {
		px_test_expect(stream, POSIX_TRACE_FILTER, &seen);
		ck_assert_uint_eq(seen.length, 2 * sizeof(sets[0]));
		ck_assert_mem_eq(seen.data, &sets[i], 2 * sizeof(sets[0]));
		ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	}
}
END_TEST

/* SYSEV-1 SYSEV-7 */
START_TEST(loop_system_event_types_have_their_names)
{
	static const struct {
		trace_event_id_t id;
		const char *name;
	} types[] = {
		{POSIX_TRACE_ERROR, "posix_trace_error"},
		{POSIX_TRACE_START, "posix_trace_start"},
		{POSIX_TRACE_STOP, "posix_trace_stop"},
		{POSIX_TRACE_FILTER, "posix_trace_filter"},
		{POSIX_TRACE_OVERFLOW, "posix_trace_overflow"},
		{POSIX_TRACE_RESUME, "posix_trace_resume"},
		{POSIX_TRACE_FLUSH_START, "posix_trace_flush_start"},
		{POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop"},
		{PX_EVENT_SWITCH_IN, "txtrace_switch_in"},
		{PX_EVENT_SWITCH_OUT, "txtrace_switch_out"},
		{PX_EVENT_SCHED_THREAD, "txtrace_sched_thread"},
		{PX_EVENT_SCHED_GAP, "txtrace_sched_gap"},
		{PX_EVENT_SCHED_START, "txtrace_sched_start"},
		{PX_EVENT_SCHED_STOP, "txtrace_sched_stop"},
		{PX_EVENT_CPU_TIME, "txtrace_cpu_time"},
		{POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent"},
	};
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	for (size_t i = 0; i < PX_ARRAY_SIZE(types); i++) {
		ok(posix_trace_eventid_get_name(stream, types[i].id, name));
		ck_assert_str_eq(name, types[i].name);
		ok(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
		ck_assert_int_eq(unavailable, 0);
		ck_assert_uint_eq(id, types[i].id); /* these system events, and no others */
	}
	ok(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
	ck_assert_uint_eq(id, type);
}
END_TEST

/* SYSEV-9: OVERFLOW, RESUME, or both are in the filter */
START_TEST(loop_filtered_gap_marks_are_not_reported)
{
	static const trace_event_id_t marks[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME};
	uint32_t slots = capacity();
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	for (int bit = 0; bit < 2; bit++)
		if (_i & 1 << bit)
			ok(posix_trace_eventset_add(marks[bit], &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	trace_many(2 * slots);
	ck_assert_int_eq(overrun(), POSIX_TRACE_OVERRUN);
	for (int bit = 0; bit < 2; bit++)
		if (!(_i & 1 << bit))
			px_test_expect(stream, marks[bit], &seen);
	expect_numbers(slots, 2 * slots);
}
END_TEST

/* State. */

/* LOOP-1 LOOP-2: the stream is full, and runs on */
START_TEST(loop_full_stream_keeps_running)
{
	struct posix_trace_status_info status;

	for (int lap = 0; lap < 20; lap++) {
		trace_many(capacity());
		status = px_test_status(stream);
		ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
		ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
	}
	read_all();
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	trace_next();
	expect_number(next_number - 1);
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
}
END_TEST

/* LOOP-3 STATUS-4: not a moment earlier */
START_TEST(loop_first_overwriting_event_sets_overrun)
{
	uint32_t used = px_record_slots(sizeof(trace_event_set_t)); /* START */

	for (uint32_t slots = capacity(); used < slots; used++) {
		trace_next();
		ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	}
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_FULL);
	trace_next();
	ck_assert_int_eq(overrun(), POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	trace_many(20); /* more than the rest of START */
	ck_assert_int_eq(overrun(), POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	read_all();
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* STATUS-9 LOOP-3: the slots of events that were read are free */
START_TEST(loop_read_in_time_never_overruns)
{
	uint32_t slots = capacity();

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	for (uint32_t i = 0; i < 10 * slots; i++) {
		trace_next();
		expect_number(i);
	}
	trace_many(slots);
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	expect_numbers(10 * slots, 11 * slots);
	ck_assert_uint_eq(nr_overwritten(), 0);
}
END_TEST

/* STOP-4 START-4 LOOP-2: their events replace the oldest ones */
START_TEST(loop_full_stream_can_be_stopped_and_started)
{
	uint32_t slots = capacity();
	struct posix_trace_status_info status;

	trace_many(slots);
	ok(posix_trace_stop(stream));
	status = px_test_status(stream);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
	trace_next();
	ok(posix_trace_start(stream));
	trace_next();
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
	for (uint32_t i = 2 + px_record_slots(sizeof(trace_event_set_t)); i < slots; i++)
		expect_number(i);
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	expect_number(slots + 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* UNREAD-1 CLEAR-1 */
START_TEST(loop_clear_loses_what_is_unread_and_the_gap)
{
	trace_many(2 * capacity());
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	ok(posix_trace_clear(stream));
	px_test_expect(stream, 0, &seen);
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	trace_next();
	expect_number(next_number - 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* UNREAD-1 UNREAD-3 SHUT-4 */
START_TEST(loop_stop_keeps_and_shutdown_loses_what_is_unread)
{
	trace_next();
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	expect_number(0);
	ok(posix_trace_shutdown(stream));
	fails(posix_trace_trygetnext_event(stream, &seen.info, NULL, 0, &seen.length, (int[]){0}),
	      EINVAL);
	stream = px_test_create(&one_ring);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* Gaps. */

/* LOOP-5: however often the ring wraps, and whichever thread asks for the status */
START_TEST(loop_many_laps_make_one_gap)
{
	uint32_t slots = capacity();
	uint64_t first_lost = 0;

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	trace_next();
	first_lost = newest(0, 1);
	for (int lap = 0; lap < 50; lap++) {
		trace_many(slots);
		overrun();
	}
	expect_gap(first_lost, 49 * slots + 1);
	expect_numbers(49 * slots + 2, 50 * slots + 1);
	ck_assert_uint_eq(nr_overwritten(), 49 * slots + 1);
}
END_TEST

/*
 * LOOP-4 LOOP-5 SYSEV-2: gap after gap; each begins with the event that would have been next.  The reader stops at
 * different places: at the end, in the middle, before the first event.
 */
START_TEST(loop_each_gap_has_its_own_times)
{
	uint32_t slots = capacity();
	uint64_t first_lost = 0;

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	for (uint32_t gap = 0; gap < 30; gap++) {
		uint32_t nr_read = gap % 3 == 0 ? 0 : gap % 3 == 1 ? slots / 2 : slots - 1;
		uint32_t first = next_number;

		for (uint32_t i = 0; i < slots; i++) {
			trace_next();
			if (i == nr_read)
				first_lost = newest(0, 1);
		}
		for (uint32_t i = 0; i < nr_read; i++)
			expect_number(first + i);
		trace_many(nr_read + 1 + gap); /* the next event, and `gap` more */
		expect_gap(first_lost, next_number - slots);
		expect_numbers(next_number - slots + 1, next_number);
		ck_assert_int_eq(overrun(), POSIX_TRACE_OVERRUN);
		ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	}
	ck_assert_uint_eq(nr_overwritten(), 30 + 29 * 30 / 2);
}
END_TEST

/* LOOP-4: what is lost while the pair is being read makes the gap longer, or is a gap of its own */
START_TEST(loop_gap_that_grows_while_it_is_told_stays_in_order)
{
	uint32_t slots = capacity();

	trace_many(2 * slots);
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	trace_many(2 * slots);
	px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
	trace_many(2 * slots);
	expect_number(slots); /* returned, with the OVERFLOW and RESUME before it */
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
	expect_numbers(5 * slots, 6 * slots);
}
END_TEST

/* Many slots. */

static size_t length_of(uint32_t number, uint64_t seed)
{
	uint64_t random = seed + number;

	return next_random(&random) % 1000;
}

static void trace_data(uint32_t number, uint64_t seed)
{
	unsigned char data[1000];
	size_t length = length_of(number, seed);

	px_test_fill(data, length, number);
	posix_trace_event(type, data, length);
}

/* LOOP-2 GETNEXT-4: records of all sizes; the surviving ones are complete, and there was room for no other one */
START_TEST(loop_records_of_many_slots_survive_whole)
{
	const struct px_test_stream large = {.size = 40000, .max_data = 1000, .nr_rings = 1};
	uint64_t seed = test_seed();
	uint32_t written = 0;

	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&large);
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	for (int round = 0; round < 50; round++) {
		uint32_t first = written + 200 + (uint32_t)(next_random(&seed) % 2000);
		uint64_t length_seed = seed, used = 0;

		while (written < first)
			trace_data(written++, length_seed);
		/* The newest records that fit. */
		while (used + px_record_slots(length_of(first - 1, length_seed)) <= capacity())
			used += px_record_slots(length_of(--first, length_seed));
		px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
		px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
		for (; first < written; first++) {
			px_test_expect(stream, type, &seen);
			ck_assert_uint_eq(seen.length, length_of(first, length_seed));
			ck_assert(px_test_is_filled(seen.data, seen.length, first));
		}
		px_test_expect(stream, 0, &seen);
	}
}
END_TEST

/* LOOP-2 LOOP-4 SYSEV-2: a large record replaces several small ones, and several small ones replace a large one */
START_TEST(loop_large_and_small_records_overwrite_each_other)
{
	uint32_t slots = capacity(), large = px_record_slots(256);
	static unsigned char data[256];
	uint64_t first_lost = 0;

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	trace_many(slots);
	posix_trace_event(type, data, sizeof(data));
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
	for (uint32_t i = large; i < slots; i++)
		expect_number(i);
	px_test_expect(stream, type, &seen);
	ck_assert_uint_eq(seen.length, sizeof(data));

	posix_trace_event(type, data, sizeof(data));
	first_lost = newest(0, large);
	trace_many(slots - large + 1); /* the last record takes its first slot */
	expect_gap(first_lost, slots);
	expect_numbers(slots + 1, next_number);
}
END_TEST

/* Writers overtake the reader. */

static uint32_t overtake_by;

static void overtake(void)
{
	trace_many(overtake_by);
	overtake_by = 0;
}

/* Read all events: the numbers rise by one, or the stream has reported a gap. */
static void read_checked(uint32_t next)
{
	trace_event_id_t got;
	bool in_gap = false;

	while ((got = px_test_take(stream, &seen)) != 0) {
		uint32_t number;

		if (got == POSIX_TRACE_OVERFLOW) {
			ck_assert(!in_gap);
			px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
			in_gap = true;
			continue;
		}
		ck_assert_uint_eq(got, type);
		number = px_test_number(&seen);
		if (in_gap)
			ck_assert_uint_gt(number, next);
		else
			ck_assert_uint_eq(number, next);
		in_gap = false;
		next = number + 1;
	}
	ck_assert(!in_gap);
	ck_assert_uint_eq(next, next_number);
}

/* The reader goes beyond the last event only in a gap. */
static const char *const reader_points[] = {"reader.snapshot.taken", "record.read.copied",
					    "reader.take.copied", "reader.lap.jumped"};
#define NR_READER_POINTS ((int)PX_ARRAY_SIZE(reader_points))

/*
 * LOOP-6 LOOP-4: writers overtake the reader at each of its steps, by less and by more than a lap: while it reads
 * without losses, and while it has just found a gap
 */
START_TEST(loop_reader_overtaken_reports_nothing_torn)
{
	const char *point = reader_points[_i % NR_READER_POINTS];
	bool has_gap = _i < NR_READER_POINTS;
	uint32_t slots = capacity();
	const uint32_t distances[] = {1, slots / 2, slots, slots + 1, 3 * slots};

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	for (size_t i = 0; i < PX_ARRAY_SIZE(distances); i++) {
		uint32_t first = next_number;

		trace_many(has_gap ? 2 * slots : 10);
		overtake_by = distances[i];
		px_test_at_point(point, overtake);
		read_checked(first);
		ck_assert_uint_eq(overtake_by, 0); /* it did */
	}
}
END_TEST

#define SLEEPERS_NUMBER 1000000

static const char *const overwriter_points[] = {"ring.reserve.done", "ring.claim.done",
						"record.write.first", "ring.commit.ready"};

/* LOOP-6: the oldest record is just being overwritten */
START_TEST(loop_record_in_the_middle_of_an_overwrite_is_skipped)
{
	uint32_t slots = capacity();
	uint64_t first_lost = 0;
	struct px_test_writer sleeper;
	trace_event_id_t got;

	px_test_expect(stream, POSIX_TRACE_START, &seen);
	trace_next();
	first_lost = newest(0, 1);
	trace_many(slots - 1); /* all slots */
	px_test_hold(&sleeper, overwriter_points[_i], type, SLEEPERS_NUMBER);
	ck_assert(sleeper.was_held);
	expect_gap(first_lost, 1);
	for (uint32_t i = 2; i < slots; i++)
		expect_number(i);
	px_test_release(&sleeper);
	trace_next();
	/* The reader may have regarded it as dead meanwhile, but then it keeps to that. */
	while ((got = px_test_take(stream, &seen)) == 0)
		;
	if (px_test_number(&seen) == SLEEPERS_NUMBER)
		px_test_expect(stream, type, &seen);
	ck_assert_uint_eq(px_test_number(&seen), slots);
	px_test_expect(stream, 0, &seen);
}
END_TEST

#define NR_WRITERS 2
#define NR_EACH 300000

struct checked {
	uint32_t writer, number;
	unsigned char bytes[60];
};

static uint32_t nr_finished;

static void *write_checked(void *argument)
{
	struct checked data = {.writer = *(const uint32_t *)argument};

	for (; data.number < NR_EACH; data.number++) {
		size_t length = data.number % sizeof(data.bytes);

		px_test_fill(data.bytes, length, data.number);
		posix_trace_event(type, &data, offsetof(struct checked, bytes) + length);
	}
	px_fetch_add(&nr_finished, 1);
	return NULL;
}

static uint32_t nr_set_aside;

/* Writers reach other points at the same time. */
static void count_set_aside(const char *point)
{
	if (strcmp(point, "reader.aside.added") == 0)
		nr_set_aside++;
}

/* Read one event of the fast writer.  Return how many events before it are missing without a gap. */
static uint32_t nr_missing(uint32_t next[NR_WRITERS], bool gap[NR_WRITERS])
{
	struct checked data;
	uint32_t missing;
	size_t length;

	ck_assert_uint_ge(seen.length, offsetof(struct checked, bytes));
	memcpy(&data, seen.data, seen.length);
	ck_assert_uint_lt(data.writer, NR_WRITERS);
	length = seen.length - offsetof(struct checked, bytes);
	ck_assert_uint_eq(length, data.number % sizeof(data.bytes));
	ck_assert(px_test_is_filled(data.bytes, length, data.number));
	ck_assert_uint_ge(data.number, next[data.writer]);
	missing = gap[data.writer] ? 0 : data.number - next[data.writer];
	gap[data.writer] = false;
	next[data.writer] = data.number + 1;
	return missing;
}

/* LOOP-6 LOOP-4 GETNEXT-9: on one ring and on several; the missing events of each writer are in a gap */
START_TEST(loop_hammered_stream_reports_nothing_torn_and_every_gap)
{
	const struct px_test_stream small = {.size = 4096, .nr_rings = (unsigned int)_i};
	uint32_t self[NR_WRITERS], next[NR_WRITERS] = {0}, missing = 0;
	struct txtrace_loss loss;
	bool gap[NR_WRITERS] = {false}, is_stopped = false;
	pthread_t writers[NR_WRITERS];
	trace_event_id_t got;
	uint32_t nr_back = 0;
	uint64_t last_ns = 0;

	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&small);
	ok(posix_trace_start(stream));
	nr_set_aside = 0;
	px_store_release(&px_testpoint_hook, count_set_aside);
	for (uint32_t i = 0; i < NR_WRITERS; i++) {
		self[i] = i;
		pthread_create(&writers[i], NULL, write_checked, &self[i]);
	}
	do {
		/*
		 * STOP is the end: the stream may look empty for a moment, while the reader waits for a reserved slot.
		 */
		if (!is_stopped && px_load_acquire(&nr_finished) == NR_WRITERS) {
			ok(posix_trace_stop(stream));
			is_stopped = true;
		}
		got = px_test_take(stream, &seen);
		if (got == 0)
			sched_yield();
		if (got == 0)
			continue;
		if (got == POSIX_TRACE_RESUME)
			gap[0] = gap[1] = true;
		if (got == type)
			missing += nr_missing(next, gap);
		/*
		 * On several rings, events that overlapped in time may come in the other order.  On one ring, this is
		 * possible only for the event of a writer that lost its CPU.
		 */
		nr_back += px_test_ns(seen.info.posix_timestamp) < last_ns;
		if (_i == 1)
			ck_assert_uint_le(nr_back, nr_set_aside);
		last_ns = px_test_ns(seen.info.posix_timestamp);
	} while (got != POSIX_TRACE_STOP);
	for (int i = 0; i < NR_WRITERS; i++) {
		pthread_join(writers[i], NULL);
		missing += gap[i] ? 0 : NR_EACH - next[i]; /* the last events may be among the lost ones */
	}
	px_store_release(&px_testpoint_hook, NULL);
	/* The reader remembers one writer that waits for a CPU, until its event is overwritten. */
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_le(missing, loss.abandoned + loss.dropped);
}
END_TEST

/* Several rings. */

static int cpus[2];

/* Find two CPUs with different rings.  Return false if there are none. */
static bool find_cpus(void)
{
	cpu_set_t allowed;
	int n = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed) && (n == 0 || cpu % 2 != cpus[0] % 2))
			cpus[n++] = cpu;
	return n == 2;
}

/* From now on this thread writes to the ring of this CPU. */
static uint32_t move_to(int nth)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[nth], &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	return (uint32_t)cpus[nth] % 2;
}

/* Create a new stream with two rings.  Return false if the machine has one CPU, so that the test is skipped. */
static bool make_two_rings(const char *test)
{
	const struct px_test_stream two_rings = {.size = 4096, .nr_rings = 2};

	if (!find_cpus()) {
		px_test_skip_in(test, "one CPU, so all events go to one ring");
		return false;
	}
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&two_rings);
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	return true;
}

/*
 * LOOP-2 LOOP-4 SYSEV-2 SYSEV-3: events that are older than the survivors of the lapped ring are discarded with the
 * lost ones
 */
START_TEST(loop_lapped_ring_cuts_the_other_one)
{
	uint64_t first_lost = 0;
	uint32_t quiet, slots;

	if (!make_two_rings(__func__))
		return;
	slots = capacity();
	quiet = move_to(0);
	trace_next();
	first_lost = newest(quiet, 1);
	trace_many(9);
	move_to(1);
	trace_many(3 * slots); /* 10 ... */
	move_to(0);
	trace_many(5); /* younger than all of them, so they stay */
	expect_gap(first_lost, 10 + 2 * slots);
	expect_numbers(11 + 2 * slots, 10 + 3 * slots + 5);
	ck_assert_uint_eq(nr_overwritten(), 10 + 2 * slots);
}
END_TEST

/*
 * SYSEV-2 LOOP-4: the writer that begins the lap has not yet saved the time of the record that it overwrites, and the
 * last read of this ring was before the reader returned other events
 */
START_TEST(loop_gap_time_is_exact_while_its_writer_sleeps)
{
	uint32_t slots, lapped;
	uint64_t first_lost;
	struct px_test_writer sleeper;

	if (!make_two_rings(__func__))
		return;
	slots = capacity();
	lapped = move_to(1);
	trace_next();
	move_to(0);
	trace_next();
	expect_numbers(0, 2);
	move_to(1);
	trace_next();
	first_lost = newest(lapped, 1);
	trace_many(slots - 1);
	px_test_hold(&sleeper, "ring.reserve.done", type, SLEEPERS_NUMBER); /* on this CPU, too */
	expect_gap(first_lost, 3);
	px_test_release(&sleeper);
}
END_TEST

/* LOOP-2: events of the other ring between the survivors of the lapped one stay in their places */
START_TEST(loop_cut_keeps_what_lies_between_survivors)
{
	uint32_t slots;

	if (!make_two_rings(__func__))
		return;
	slots = capacity();
	move_to(1);
	trace_many(slots);
	for (uint32_t i = 0; i < 20; i++) {
		move_to(0);
		trace_next();
		move_to(1);
		trace_many(5); /* 20 rounds: this overwrites the first slots of this ring */
	}
	/* 100 events of this ring were overwritten: they are older than all events of the other ring. */
	px_test_expect(stream, POSIX_TRACE_OVERFLOW, &seen);
	px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
	ck_assert_uint_gt(slots, 100);
	expect_numbers(100, next_number);
	ck_assert_uint_eq(nr_overwritten(), 100);
}
END_TEST

/* LOOP-2 LOOP-5: whichever rings are lapped, the remaining events are the newest ones, without a hole */
START_TEST(loop_survivors_of_two_rings_are_the_newest)
{
	uint64_t random = test_seed();

	if (!make_two_rings(__func__))
		return;
	for (int round = 0; round < 40; round++) {
		uint32_t total = capacity() + (uint32_t)(next_random(&random) % (4 * capacity()));
		uint32_t begin = next_number;
		unsigned long long before = nr_overwritten();
		trace_event_id_t got;
		uint32_t first;

		while (next_number - begin < total) {
			move_to((int)(next_random(&random) % 2));
			trace_many(1 + (uint32_t)(next_random(&random) % 60));
		}
		got = px_test_take(stream, &seen);
		if (got == POSIX_TRACE_OVERFLOW) {
			px_test_expect(stream, POSIX_TRACE_RESUME, &seen);
			got = px_test_take(stream, &seen);
		}
		ck_assert_uint_eq(got, type);
		first = px_test_number(&seen);
		expect_numbers(first + 1, next_number);
		ck_assert_uint_eq(nr_overwritten() - before, first - begin);
	}
}
END_TEST

/* LOOP-2 ATTR-4 ATTR-5: one ring alone holds as much as the stream guarantees */
START_TEST(loop_guaranteed_size_is_there_for_one_thread)
{
	trace_attr_t attr;
	size_t size, event_size;
	uint32_t n;

	if (!make_two_rings(__func__))
		return;
	move_to(1);
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getstreamsize(&attr, &size));
	ok(posix_trace_attr_getmaxusereventsize(&attr, sizeof(uint32_t), &event_size));
	ck_assert_uint_ge(size, 4096);
	n = (uint32_t)(size / event_size);
	trace_many(n);
	ck_assert_int_eq(overrun(), POSIX_TRACE_NO_OVERRUN);
	expect_numbers(0, n);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static void add_event_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "sequences");

	tcase_add_test(tcase, loop_start_event_stop_are_reported);
	tcase_add_loop_test(tcase, loop_events_beyond_the_capacity_leave_a_gap_and_the_newest, 0,
			    14);
	tcase_add_test(tcase, loop_start_and_stop_without_effect_record_nothing);
	tcase_add_test(tcase, loop_everything_filtered_runs_and_stays_empty);
	tcase = add_case(suite, "system events");
	tcase_add_test(tcase, loop_system_events_carry_their_data_whole);
	tcase_add_test(tcase, loop_system_event_types_have_their_names);
	tcase_add_loop_test(tcase, loop_filtered_gap_marks_are_not_reported, 0, 4);
	tcase = add_case(suite, "state");
	tcase_add_test(tcase, loop_full_stream_keeps_running);
	tcase_add_test(tcase, loop_first_overwriting_event_sets_overrun);
	tcase_add_test(tcase, loop_read_in_time_never_overruns);
	tcase_add_test(tcase, loop_full_stream_can_be_stopped_and_started);
	tcase_add_test(tcase, loop_clear_loses_what_is_unread_and_the_gap);
	tcase_add_test(tcase, loop_stop_keeps_and_shutdown_loses_what_is_unread);
}

static void add_gap_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "gaps");

	tcase_add_test(tcase, loop_many_laps_make_one_gap);
	tcase_add_test(tcase, loop_each_gap_has_its_own_times);
	tcase_add_test(tcase, loop_gap_that_grows_while_it_is_told_stays_in_order);
	tcase = add_case(suite, "many slots");
	tcase_add_test(tcase, loop_records_of_many_slots_survive_whole);
	tcase_add_test(tcase, loop_large_and_small_records_overwrite_each_other);
	tcase = add_case(suite, "overtaken");
	tcase_add_loop_test(tcase, loop_reader_overtaken_reports_nothing_torn, 0,
			    2 * NR_READER_POINTS - 1);
	tcase_add_loop_test(tcase, loop_record_in_the_middle_of_an_overwrite_is_skipped, 0,
			    (int)PX_ARRAY_SIZE(overwriter_points));
	tcase_add_loop_test(tcase, loop_hammered_stream_reports_nothing_torn_and_every_gap, 1, 3);
}

static void add_ring_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "several rings");

	tcase_add_test(tcase, loop_lapped_ring_cuts_the_other_one);
	tcase_add_test(tcase, loop_gap_time_is_exact_while_its_writer_sleeps);
	tcase_add_test(tcase, loop_cut_keeps_what_lies_between_survivors);
	tcase_add_test(tcase, loop_survivors_of_two_rings_are_the_newest);
	tcase_add_test(tcase, loop_guaranteed_size_is_there_for_one_thread);
}

int main(void)
{
	Suite *suite = suite_create("loop");

	add_event_tests(suite);
	add_gap_tests(suite);
	add_ring_tests(suite);
	return run_suite(suite);
}
