/* SPDX-License-Identifier: MIT */
/*
 * A stream that stops when it is full, and starts again after a read: where it stops, which events are lost and how the
 * stream reports it, when it restarts, the effects of stop, start, clear and the filter meanwhile; and how much the
 * stream holds.
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

static const struct px_test_stream one_ring = {
	.policy = POSIX_TRACE_UNTIL_FULL, .size = 4096, .nr_rings = 1};

static trace_event_id_t type, other;
static trace_id_t stream;
static struct px_test_event seen;
static uint32_t next_number; /* number of the next event */

static void setup(void)
{
	ok(posix_trace_eventid_open("filling", &type));
	ok(posix_trace_eventid_open("other", &other));
	stream = px_test_create(&one_ring);
	ok(posix_trace_start(stream));
}

static void teardown(void)
{
	posix_trace_shutdown(stream);
}

static void renew(const struct px_test_stream *wanted)
{
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(wanted);
	ok(posix_trace_start(stream));
}

static void trace_next(void)
{
	px_test_trace(type, next_number++);
}

static void expect_number(uint32_t number)
{
	px_test_expect(stream, type, &seen);
	ck_assert_uint_eq(px_test_number(&seen), number);
}

static void expect_numbers(uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		expect_number(i);
}

static void expect_status(int running, int full, int overrun)
{
	px_test_expect_status(stream, running, full, overrun);
}

#define RUNNING POSIX_TRACE_RUNNING
#define SUSPENDED POSIX_TRACE_SUSPENDED
#define FULL POSIX_TRACE_FULL
#define NOT_FULL POSIX_TRACE_NOT_FULL
#define OVERRUN POSIX_TRACE_OVERRUN
#define NO_OVERRUN POSIX_TRACE_NO_OVERRUN

/* Record numbers until the stream is full; none is lost. */
static void fill(void)
{
	while (px_test_status(stream).posix_stream_full_status != FULL)
		trace_next();
}

/* INFO-3 INFO-4 INFO-9: an event that no thread caused */
static void expect_made_event(trace_event_id_t made)
{
	px_test_expect_made(stream, made, &seen);
}

static int stop_data(void)
{
	int automatic;

	ck_assert_uint_eq(seen.length, sizeof(automatic));
	memcpy(&automatic, seen.data, sizeof(automatic));
	return automatic;
}

static void expect_automatic_stop(void)
{
	expect_made_event(POSIX_TRACE_STOP);
	ck_assert_int_ne(stop_data(), 0);
}

static void expect_manual_stop(void)
{
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	ck_assert_int_eq(stop_data(), 0);
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
}

static void expect_start(void)
{
	trace_event_set_t filter;

	ok(posix_trace_get_filter(stream, &filter));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	ck_assert_uint_eq(seen.length, sizeof(filter));
	ck_assert_mem_eq(seen.data, &filter, sizeof(filter));
}

static uint64_t now_of_stream(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	uint64_t counter = px_clock_read((enum px_clock_source)inside->view.rings.source);

	px_handle_unlock(stream);
	return counter;
}

static uint64_t time_of_counter(uint64_t counter)
{
	struct px_stream *inside = px_handle_lock(stream);
	uint64_t ns = px_timeline_convert(&inside->reader.timeline, counter);

	px_handle_unlock(stream);
	return ns;
}

static struct px_geometry geometry(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	struct px_geometry geometry = inside->view.geometry;

	px_handle_unlock(stream);
	return geometry;
}

static unsigned long long nr_dropped(void)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten, 0);
	ck_assert_uint_eq(loss.abandoned, 0);
	return loss.dropped;
}

/* The way around. */

/* UFULL-1 UFULL-2 UFULL-3 UFULL-6 UFULL-8 SYSEV-2 SYSEV-3 SYSEV-4 EVENT-12 STATUS-4: sequence 2 */
START_TEST(until_full_events_lost_are_told_between_stop_and_start)
{
	uint64_t before, after, overflow_ns, resume_ns;
	uint32_t end;

	fill();
	end = next_number;
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	before = now_of_stream();
	trace_next();
	after = now_of_stream();
	trace_next();
	expect_status(SUSPENDED, FULL, OVERRUN);
	expect_status(SUSPENDED, FULL, NO_OVERRUN);

	expect_start();
	expect_numbers(0, end);
	expect_automatic_stop();
	expect_made_event(POSIX_TRACE_OVERFLOW);
	ck_assert_uint_eq(seen.length, 0);
	overflow_ns = px_test_ns(seen.info.posix_timestamp);
	ck_assert_uint_ge(overflow_ns, time_of_counter(before));
	ck_assert_uint_le(overflow_ns, time_of_counter(after));
	expect_made_event(POSIX_TRACE_RESUME);
	ck_assert_uint_eq(seen.length, 0);
	resume_ns = px_test_ns(seen.info.posix_timestamp);
	expect_start();
	ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), resume_ns);
	ck_assert_ptr_null(seen.info.posix_prog_address); /* by itself */
	px_test_expect(stream, 0, &seen);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
	trace_next();
	expect_number(end + 2);
	ck_assert_uint_eq(nr_dropped(), 2);
}
END_TEST

/* UFULL-8 UFULL-9 UFULL-2: full without any loss */
START_TEST(until_full_pause_without_loss_has_no_gap)
{
	fill();
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	expect_start();
	expect_numbers(0, next_number);
	expect_automatic_stop();
	expect_start();
	px_test_expect(stream, 0, &seen);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
	ck_assert_uint_eq(nr_dropped(), 0);
}
END_TEST

/* UFULL-2 GETNEXT-2: a waiting reader also gets STOP, although no event follows it */
START_TEST(until_full_blocking_reads_get_all_of_the_pause)
{
	struct posix_trace_event_info info;
	uint32_t nr_stops = 0, nr_starts = 0;
	size_t length;
	int unavailable;

	fill();
	for (uint32_t i = 0; i < next_number + 3; i++) {
		ok(posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable));
		nr_stops += info.posix_event_id == POSIX_TRACE_STOP;
		nr_starts += info.posix_event_id == POSIX_TRACE_START;
	}
	ck_assert_uint_eq(nr_stops, 1);
	ck_assert_uint_eq(nr_starts, 2);
}
END_TEST

static uint32_t overfill_by;

static void overfill(void)
{
	while (overfill_by-- > 0)
		trace_next();
}

/*
 * UFULL-2 UFULL-8: the reader finds the stream empty.  Before it reads the state, a writer fills the stream.  STOP
 * still comes after these events
 */
START_TEST(until_full_filled_behind_the_readers_back_stops_after_its_events)
{
	trace_event_id_t got;
	uint32_t next = 0;

	expect_start();
	px_test_expect(stream, 0, &seen);
	overfill_by = geometry().nr_slots;
	px_test_at_point("reader.snapshot.taken", overfill);
	got = px_test_take(stream, &seen);
	ck_assert_uint_gt(next_number, 0); /* it did */
	if (got == 0)
		got = px_test_take(stream, &seen);
	for (; got == type; got = px_test_take(stream, &seen))
		ck_assert_uint_eq(px_test_number(&seen), next++);
	ck_assert_uint_gt(next, 0);
	ck_assert_uint_eq(got, POSIX_TRACE_STOP);
	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_made_event(POSIX_TRACE_RESUME);
	expect_start();
	px_test_expect(stream, 0, &seen);
	ck_assert_uint_eq(next + nr_dropped(), next_number);
}
END_TEST

/* Full. */

static const struct {
	size_t size, max_data, length;
} sizes[] = {
	{1, 1, 0},	   {1, 0, 4},
	{4096, 16, 16},	   {4096, 17, 17},
	{10000, 256, 100}, {65536, 256, 256},
	{65536, 1000, 0},  {100000, 65536, 1},
	{1, 65536, 65536}, {300000, 5000, 4999},
};

/* Return the number of slots that are reserved and not consumed. */
static uint64_t used_slots(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	struct px_ring ring = px_rings_get(&inside->view.rings, 0);
	uint64_t used = px_read_once(&ring.control->head) - px_read_once(&ring.control->tail);

	px_handle_unlock(stream);
	return used;
}

/*
 * UFULL-9 UFULL-1 STATUS-4 COMB-1 COMB-2: the stream is full as soon as there is no room for another event of the
 * largest size, even if no call asks for the status
 */
START_TEST(until_full_stops_when_a_largest_event_has_no_room)
{
	size_t size = (size_t)_i / 2;
	bool is_asking = _i % 2;
	const struct px_test_stream wanted = {.policy = POSIX_TRACE_UNTIL_FULL,
					      .size = sizes[size].size,
					      .max_data = sizes[size].max_data,
					      .nr_rings = 1};
	static unsigned char data[65536];
	struct px_geometry shape;
	uint64_t n = 0;

	renew(&wanted);
	shape = geometry();
	while (used_slots() + shape.event_slots <= shape.user_limit) {
		if (is_asking)
			expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
		posix_trace_event(type, data, sizes[size].length);
		n++;
	}
	if (is_asking)
		expect_status(SUSPENDED, FULL, NO_OVERRUN);
	expect_start();
	for (uint64_t i = 0; i < n; i++)
		px_test_expect(stream, type, &seen);
	expect_automatic_stop();
	ck_assert_uint_eq(nr_dropped(), 0);
}
END_TEST

/* MODEL-3 EVENT-12 STATUS-4 UFULL-1 */
START_TEST(until_full_every_event_lost_is_counted)
{
	fill();
	for (uint32_t i = 1; i <= 1000; i++) {
		trace_next();
		ck_assert_uint_eq(nr_dropped(), i);
		expect_status(SUSPENDED, FULL, OVERRUN);
		expect_status(SUSPENDED, FULL, NO_OVERRUN);
	}
}
END_TEST

/* UFULL-12 */
START_TEST(until_full_filtered_event_is_not_lost)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(other, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	fill();
	px_test_trace(other, 0);
	px_test_trace(0, 0);
	px_test_trace(POSIX_TRACE_START, 0);
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	ck_assert_uint_eq(nr_dropped(), 0);
	trace_next();
	expect_status(SUSPENDED, FULL, OVERRUN);
}
END_TEST

/* UFULL-10: events of control calls have room, whatever the users record */
START_TEST(until_full_control_events_are_never_lost)
{
	trace_event_set_t set;
	uint32_t nr_filters = 0, nr_stops = 0, nr_starts = 1, events = 0;
	trace_event_id_t got;

	ok(posix_trace_eventset_empty(&set));
	for (int round = 0; round < 100; round++) {
		if (px_test_status(stream).posix_stream_status != RUNNING)
			break;
		ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
		nr_filters++;
		if (px_test_status(stream).posix_stream_status == RUNNING) {
			ok(posix_trace_stop(stream));
			nr_stops++;
		}
		ok(posix_trace_start(stream));
		nr_starts += px_test_status(stream).posix_stream_status == RUNNING;
		if (round % 2)
			trace_next();
	}
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	while ((got = px_test_take(stream, &seen)) != 0) {
		nr_filters -= got == POSIX_TRACE_FILTER;
		nr_starts -= got == POSIX_TRACE_START && seen.info.posix_prog_address;
		nr_stops -= got == POSIX_TRACE_STOP && stop_data() == 0;
		events += got == type;
	}
	ck_assert_uint_eq(nr_filters, 0);
	ck_assert_uint_le(nr_starts, 1); /* the last event may have found no room */
	ck_assert_uint_eq(nr_stops, 0);
	ck_assert_uint_eq(events, next_number);
}
END_TEST

/* Restart. */

/* UFULL-7 UFULL-4 UFULL-5: at the event that frees half of the room, and not before */
START_TEST(until_full_restarts_when_half_is_free)
{
	uint64_t start = px_record_slots(sizeof(struct px_eventset) + sizeof(struct px_marks));
	uint64_t limit = geometry().user_limit, largest = geometry().event_slots;

	fill();
	for (;;) {
		uint64_t used = used_slots();

		ck_assert_uint_gt(used, limit / 2);
		expect_status(SUSPENDED, used + largest > limit ? FULL : NOT_FULL, NO_OVERRUN);
		ck_assert_uint_ne(px_test_take(stream, &seen), 0);
		if (px_test_status(stream).posix_stream_status == RUNNING)
			break;
	}
	ck_assert_uint_le(used_slots() - start, limit / 2);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
}
END_TEST

/* UFULL-5 UFULL-6: at the latest when it is empty, even if one event takes all the room */
START_TEST(until_full_restarts_when_empty)
{
	const struct px_test_stream wanted = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 1, .max_data = 65536, .nr_rings = 1};
	static unsigned char data[65536];

	renew(&wanted);
	for (int round = 0; round < 10; round++) {
		expect_start();
		while (px_test_status(stream).posix_stream_full_status != FULL) {
			posix_trace_event(type, data, sizeof(data));
			next_number++;
		}
		for (; next_number > 0; next_number--)
			px_test_expect(stream, type, &seen);
		expect_automatic_stop();
		expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
	}
}
END_TEST

/*
 * UFULL-6 UFULL-8 SYSEV-4: the reader gets the remaining events, then STOP, then START, then the events after the
 * restart
 */
START_TEST(until_full_events_after_the_restart_come_behind_start)
{
	uint32_t end;

	fill();
	end = next_number;
	while (px_test_status(stream).posix_stream_status != RUNNING)
		ck_assert_uint_ne(px_test_take(stream, &seen), 0);
	trace_next();
	for (uint32_t i = px_test_number(&seen) + 1; i < end; i++)
		expect_number(i);
	expect_automatic_stop();
	expect_start();
	expect_number(end);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* UFULL-6 SYSEV-1: the filter that is valid, changed during the pause (which records no FILTER) */
START_TEST(until_full_restart_tells_the_present_filter)
{
	trace_event_set_t set;

	fill();
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(other, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	expect_numbers(0, next_number);
	expect_automatic_stop();
	expect_start();
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* UFULL-8 SYSEV-2: two pauses that were not read, one after the other, each with its own STOP and START */
START_TEST(until_full_two_pauses_are_told_apart)
{
	uint32_t first, second, lost;

	fill();
	first = next_number;
	while (px_test_status(stream).posix_stream_status != RUNNING)
		ck_assert_uint_ne(px_test_take(stream, &seen), 0);
	lost = px_test_number(&seen);
	fill();
	second = next_number;
	trace_next();
	expect_numbers(lost + 1, first);
	expect_automatic_stop();
	expect_start();
	expect_numbers(first, second);
	expect_automatic_stop();
	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_made_event(POSIX_TRACE_RESUME);
	expect_start();
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* Stop, start and clear. */

/* UFULL-8 AMB-8: events that a full stream lost before a call stopped it; the stream is read before the next start */
START_TEST(until_full_loss_before_a_stop_by_call_is_marked_at_the_next_start)
{
	fill();
	trace_next();
	ok(posix_trace_stop(stream));
	do
		px_test_take(stream, &seen);
	while (seen.info.posix_event_id != POSIX_TRACE_STOP);
	px_test_expect(stream, 0, &seen);
	ok(posix_trace_start(stream));
	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_made_event(POSIX_TRACE_RESUME);
	expect_start();
	ok(posix_trace_stop(stream));
	px_test_expect(stream, POSIX_TRACE_STOP, &seen);
	ok(posix_trace_start(stream)); /* nothing was lost since then */
	expect_start();
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* STOP-1 START-1 SYSEV-4: if it is not full, it behaves like any stream */
START_TEST(until_full_stop_and_start_while_not_full_are_recorded)
{
	trace_next();
	ok(posix_trace_stop(stream));
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	trace_next();
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	ok(posix_trace_start(stream));
	trace_next();
	expect_start();
	expect_number(0);
	expect_manual_stop();
	expect_start();
	expect_number(2);
	px_test_expect(stream, 0, &seen);
	ck_assert_uint_eq(nr_dropped(), 0);
}
END_TEST

/* STOP-3 UFULL-2: nothing is recorded, and the stream does not restart any more */
START_TEST(until_full_stop_while_full_prevents_the_restart)
{
	fill();
	ok(posix_trace_stop(stream));
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	expect_start();
	expect_numbers(0, next_number);
	expect_automatic_stop();
	px_test_expect(stream, 0, &seen);
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	ok(posix_trace_start(stream));
	expect_start();
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
}
END_TEST

/* EVENT-2 STATUS-4 UFULL-8: stopped by a call and no longer full: the stream ignores events */
START_TEST(until_full_stopped_and_read_ignores_events)
{
	fill();
	ok(posix_trace_stop(stream));
	expect_start();
	expect_numbers(0, next_number);
	expect_automatic_stop();
	trace_next();
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	ck_assert_uint_eq(nr_dropped(), 0);
	ok(posix_trace_start(stream));
	expect_start(); /* and no gap before it */
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* START-3 UFULL-5: a start while the stream is full has no other effect */
START_TEST(until_full_start_while_full_allows_the_restart_again)
{
	fill();
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	expect_status(SUSPENDED, FULL, NO_OVERRUN);
	expect_start();
	expect_numbers(0, next_number);
	expect_automatic_stop();
	expect_start();
	ck_assert_ptr_null(seen.info.posix_prog_address);
	px_test_expect(stream, 0, &seen);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
}
END_TEST

/* START-1 UFULL-8: some room is free, but not yet half: an explicit start need not wait */
START_TEST(until_full_start_with_some_room_starts_at_once)
{
	fill();
	trace_next(); /* lost */
	expect_start();
	expect_number(0);
	expect_status(SUSPENDED, NOT_FULL, OVERRUN);
	ok(posix_trace_start(stream));
	expect_numbers(1, next_number - 1);
	expect_automatic_stop();
	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_made_event(POSIX_TRACE_RESUME);
	expect_start();
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
}
END_TEST

/* UFULL-5 CLEAR-1 CLEAR-2 CLEAR-3 CLEAR-10 UNREAD-1: read until it is empty, and still suspended */
START_TEST(until_full_clear_while_full_needs_an_explicit_start)
{
	fill();
	trace_next();
	ok(posix_trace_clear(stream));
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	px_test_expect(stream, 0, &seen);
	trace_next();
	px_test_expect(stream, 0, &seen);
	expect_status(SUSPENDED, NOT_FULL, NO_OVERRUN);
	ck_assert_uint_eq(nr_dropped(), 0);
	ok(posix_trace_start(stream));
	expect_start();
	trace_next();
	expect_number(next_number - 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* CLEAR-1: clear also discards STOP and START that were not reported yet */
START_TEST(until_full_clear_in_the_middle_of_the_marks_forgets_them)
{
	fill();
	trace_next();
	expect_start();
	expect_numbers(0, next_number - 1);
	expect_automatic_stop();
	expect_made_event(POSIX_TRACE_OVERFLOW);
	ok(posix_trace_clear(stream));
	px_test_expect(stream, 0, &seen);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
	trace_next();
	expect_number(next_number - 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* Filters. */

static const trace_event_id_t marks[] = {POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME,
					 POSIX_TRACE_START};

/* SYSEV-9 FILT-2 UFULL-8 SYSEV-3: one of the four events is in the filter; the stream still stops and starts */
START_TEST(until_full_filtered_marks_are_not_reported)
{
	trace_event_set_t set;
	uint32_t end;

	ok(posix_trace_eventset_empty(&set));
	for (int bit = 0; bit < 4; bit++)
		if (_i & 1 << bit)
			ok(posix_trace_eventset_add(marks[bit], &set));
	expect_start();
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	px_test_expect(stream, POSIX_TRACE_FILTER, &seen);
	fill();
	end = next_number;
	trace_next();
	expect_status(SUSPENDED, FULL, OVERRUN);
	expect_numbers(0, end - 1);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
	trace_next();
	expect_number(end - 1);
	for (int bit = 0; bit < 4; bit++) {
		if (_i & 1 << bit)
			continue;
		px_test_expect(stream, marks[bit], &seen);
		if (marks[bit] == POSIX_TRACE_STOP)
			ck_assert_int_ne(stop_data(), 0);
	}
	expect_number(end + 1);
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* SYSEV-3: without START, the gap ends with the first event after it */
START_TEST(until_full_filtered_start_leaves_resume_to_the_next_event)
{
	trace_event_set_t set;
	uint64_t resume_ns;
	uint32_t end;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	fill();
	end = next_number;
	trace_next();
	while (px_test_take(stream, &seen) != POSIX_TRACE_STOP)
		;
	px_test_expect(stream, 0, &seen);
	trace_next();
	expect_made_event(POSIX_TRACE_OVERFLOW);
	expect_made_event(POSIX_TRACE_RESUME);
	resume_ns = px_test_ns(seen.info.posix_timestamp);
	expect_number(end + 1);
	ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), resume_ns);
}
END_TEST

/* FILT-1 UFULL-2: the stop happened before STOP was in the filter, or while it was */
START_TEST(until_full_stop_is_filtered_as_of_the_time_it_happened)
{
	int how = _i ? POSIX_TRACE_ADD_EVENTSET : POSIX_TRACE_SUB_EVENTSET;
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_STOP, &set));
	if (how == POSIX_TRACE_SUB_EVENTSET)
		ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
	fill();
	ok(posix_trace_set_filter(stream, &set, how));
	while (px_test_take(stream, &seen) != type)
		;
	expect_numbers(1, next_number);
	if (how == POSIX_TRACE_ADD_EVENTSET)
		expect_automatic_stop();
	expect_start();
	px_test_expect(stream, 0, &seen);
}
END_TEST

/* How much fits. */

static size_t size_of_system_event(const trace_attr_t *attr)
{
	size_t size;

	ok(posix_trace_attr_getmaxsystemeventsize(attr, &size));
	return size;
}

static size_t size_of_user_event(const trace_attr_t *attr, size_t length)
{
	size_t size;

	ok(posix_trace_attr_getmaxusereventsize(attr, length, &size));
	return size;
}

static const size_t stream_sizes[] = {1, 2000, 4096, 10000, 65536, 500000};
static const size_t data_sizes[] = {1, 16, 17, 256, 4000, 65536};

/* START and events of these lengths, as many as fit by their sizes: all of them are recorded. */
static void expect_all_fit(const trace_attr_t *attr, size_t size, size_t max_data, uint64_t *random)
{
	static unsigned char data[65536];
	size_t used = size_of_system_event(attr); /* START */
	uint32_t n = 0;

	for (;;) {
		size_t length = next_random(random) % 3 ? next_random(random) % (max_data + 1) :
				next_random(random) % 2 ? max_data :
							  2 * max_data; /* truncated, and counts with this length */

		used += size_of_user_event(attr, length);
		if (used > size)
			break;
		posix_trace_event(type, data, length < sizeof(data) ? length : sizeof(data));
		n++;
	}
	ck_assert_uint_eq(nr_dropped(), 0);
	px_test_expect(stream, POSIX_TRACE_START, &seen);
	while (n-- > 0)
		px_test_expect(stream, type, &seen);
}

/* ATTR-4 UFULL-10 MAXUSR-1 MAXSYS-3: for the size that the test asked for, and for the actual size */
START_TEST(until_full_events_within_the_size_are_all_recorded)
{
	size_t max_data = data_sizes[_i];
	uint64_t random = test_seed();

	for (size_t i = 0; i < PX_ARRAY_SIZE(stream_sizes); i++) {
		struct px_test_stream wanted = {.policy = POSIX_TRACE_UNTIL_FULL,
						.size = stream_sizes[i],
						.max_data = max_data,
						.nr_rings = 1};
		trace_attr_t attr;
		size_t size;

		for (int round = 0; round < 10; round++) {
			renew(&wanted);
			ok(posix_trace_get_attr(stream, &attr));
			ok(posix_trace_attr_getstreamsize(&attr, &size));
			ck_assert_uint_ge(size, stream_sizes[i]);
			expect_all_fit(&attr, round % 2 ? size : stream_sizes[i], max_data,
				       &random);
		}
	}
}
END_TEST

#define NR_THREADS 4

static uint32_t nr_for_each;

static void *trace_share(void *argument)
{
	uint32_t first = *(const uint32_t *)argument;

	for (uint32_t i = 0; i < nr_for_each; i++)
		px_test_trace(type, first + i);
	return NULL;
}

static void trace_in_threads(uint32_t for_each)
{
	pthread_t threads[NR_THREADS];
	uint32_t first[NR_THREADS];

	nr_for_each = for_each;
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		first[i] = i * for_each;
		pthread_create(&threads[i], NULL, trace_share, &first[i]);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ATTR-4 ATTR-5: however the threads share it: on one ring, and on one for each CPU */
START_TEST(until_full_events_of_threads_within_the_size_are_all_recorded)
{
	const struct px_test_stream wanted = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 200000, .nr_rings = (unsigned int)_i};
	uint32_t next[NR_THREADS] = {0}, for_each;
	trace_attr_t attr;
	size_t size;

	for (int round = 0; round < 10; round++) {
		renew(&wanted);
		ok(posix_trace_get_attr(stream, &attr));
		ok(posix_trace_attr_getstreamsize(&attr, &size));
		for_each = (uint32_t)((size - size_of_system_event(&attr)) /
				      size_of_user_event(&attr, sizeof(uint32_t)) / NR_THREADS);
		trace_in_threads(for_each);
		ck_assert_uint_eq(nr_dropped(), 0);
		px_test_expect(stream, POSIX_TRACE_START, &seen);
		memset(next, 0, sizeof(next));
		for (uint32_t i = 0; i < NR_THREADS * for_each; i++) {
			uint32_t number;

			px_test_expect(stream, type, &seen);
			number = px_test_number(&seen);
			ck_assert_uint_eq(number % for_each, next[number / for_each]++);
		}
	}
}
END_TEST

/* UFULL-1 UFULL-9 MODEL-3: the events of each thread are there up to a point, and none after it */
START_TEST(until_full_threads_lose_nothing_before_it_is_full)
{
	const struct px_test_stream wanted = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 20000, .nr_rings = (unsigned int)_i};
	enum { FOR_EACH = 2000 };

	for (int round = 0; round < 20; round++) {
		uint32_t next[NR_THREADS] = {0}, came = 0;
		size_t size;
		trace_attr_t attr;

		renew(&wanted);
		trace_in_threads(FOR_EACH);
		expect_status(SUSPENDED, FULL, OVERRUN);
		px_test_expect(stream, POSIX_TRACE_START, &seen);
		while (px_test_take(stream, &seen) == type) {
			uint32_t number = px_test_number(&seen);

			ck_assert_uint_eq(number % FOR_EACH, next[number / FOR_EACH]++);
			came++;
		}
		ck_assert_uint_eq(seen.info.posix_event_id, POSIX_TRACE_STOP);
		ck_assert_uint_eq(came + nr_dropped(), NR_THREADS * FOR_EACH);
		ok(posix_trace_get_attr(stream, &attr));
		ok(posix_trace_attr_getstreamsize(&attr, &size));
		ck_assert_uint_ge(came * size_of_user_event(&attr, 4) + size_of_system_event(&attr),
				  size);
	}
}
END_TEST

/* UFULL-4 UFULL-1: filled and emptied again and again, so that it fills at all positions of the ring */
START_TEST(until_full_wraps_many_times_without_a_fault)
{
	const struct px_test_stream wanted = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 1, .max_data = 300, .nr_rings = 1};
	uint64_t random = test_seed();
	unsigned char data[300];

	renew(&wanted);
	for (int round = 0; round < 3000; round++) {
		uint64_t seed = random;
		uint32_t n = 0;

		expect_start();
		while (px_test_status(stream).posix_stream_full_status != FULL) {
			size_t length = next_random(&random) % (sizeof(data) + 1);

			px_test_fill(data, length, n++);
			posix_trace_event(type, data, length);
		}
		for (uint32_t i = 0; i < n; i++) {
			px_test_expect(stream, type, &seen);
			ck_assert_uint_eq(seen.length, next_random(&seed) % (sizeof(data) + 1));
			ck_assert(px_test_is_filled(seen.data, seen.length, i));
		}
		expect_automatic_stop();
	}
}
END_TEST

/* A reader that follows the writers through pauses. */

#define FOR_EACH_HAMMER 100000

static uint32_t nr_finished;

static void *hammer(void *argument)
{
	uint32_t first = *(const uint32_t *)argument;

	for (uint32_t i = 0; i < FOR_EACH_HAMMER; i++)
		px_test_trace(type, first + i);
	px_fetch_add(&nr_finished, 1);
	return NULL;
}

static trace_event_id_t previous;
static uint32_t next_of[NR_THREADS];
static bool gap_of[NR_THREADS], is_late;
static uint32_t nr_missing; /* without a gap */

/*
 * Which event may follow which (UFULL-8).  A writer that was about to drop an event when the stream started again may
 * count it too late for START: then the gap comes after START (is_late).
 */
static void expect_in_place(trace_event_id_t got)
{
	uint32_t number, thread;

	switch (got) {
	case POSIX_TRACE_STOP:
		ck_assert_int_ne(stop_data(), 0);
		ck_assert(previous == type || previous == POSIX_TRACE_START);
		break;
	case POSIX_TRACE_OVERFLOW:
		is_late = previous != POSIX_TRACE_STOP;
		ck_assert(!is_late || previous == type || previous == POSIX_TRACE_START);
		break;
	case POSIX_TRACE_RESUME:
		ck_assert_uint_eq(previous, POSIX_TRACE_OVERFLOW);
		for (int i = 0; i < NR_THREADS; i++)
			gap_of[i] = true;
		break;
	case POSIX_TRACE_START:
		ck_assert(previous == 0 || previous == POSIX_TRACE_STOP ||
			  previous == POSIX_TRACE_RESUME);
		break;
	default:
		ck_assert_uint_eq(got, type);
		ck_assert(previous == type || previous == POSIX_TRACE_START ||
			  (is_late && previous == POSIX_TRACE_RESUME));
		number = px_test_number(&seen);
		thread = number / FOR_EACH_HAMMER;
		number %= FOR_EACH_HAMMER;
		ck_assert_uint_ge(number, next_of[thread]);
		nr_missing += gap_of[thread] ? 0 : number - next_of[thread];
		gap_of[thread] = false;
		next_of[thread] = number + 1;
	}
	previous = got;
}

/*
 * UFULL-1 UFULL-2 UFULL-6 UFULL-8 MODEL-3 COMB-1 COMB-2 GETNEXT-10: each loss is in a gap, and each gap is in a pause
 */
START_TEST(until_full_hammered_and_read_keeps_its_order)
{
	const struct px_test_stream small = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 4096, .nr_rings = (unsigned int)_i};
	pthread_t threads[NR_THREADS];
	uint32_t first[NR_THREADS], came = 0;
	struct txtrace_loss loss;
	trace_event_id_t got;
	bool is_over, is_complete = false;

	renew(&small);
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		first[i] = i * FOR_EACH_HAMMER;
		pthread_create(&threads[i], NULL, hammer, &first[i]);
	}
	do {
		struct posix_trace_status_info status = px_test_status(stream);

		if (status.posix_stream_full_status == FULL)
			ck_assert_int_eq(status.posix_stream_status, SUSPENDED);
		is_over = px_load_acquire(&nr_finished) == NR_THREADS;
		got = px_test_take(stream, &seen);
		if (got == 0) {
			/* The stream may look empty although a record is not committed yet, so count the events. */
			ok(txtrace_get_loss(stream, &loss));
			is_complete = came + loss.dropped + loss.abandoned ==
				      NR_THREADS * FOR_EACH_HAMMER;
			continue;
		}
		expect_in_place(got);
		came += got == type;
	} while (got != 0 || !is_over || !is_complete);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	/* The reader gave up a writer that waited too long for its CPU in the middle of a record. */
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(came + loss.dropped + loss.abandoned, NR_THREADS * FOR_EACH_HAMMER);
	ck_assert_uint_le(nr_missing, loss.abandoned);
	px_test_status(stream);
	expect_status(RUNNING, NOT_FULL, NO_OVERRUN);
}
END_TEST

/* FLUSHP-3 SETSFP-4 CREATE-11 */
START_TEST(create_flush_policy_without_log_gives_einval)
{
	trace_id_t untouched = 77;
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	fails(posix_trace_create(0, &attr, &untouched), EINVAL);
	ck_assert_uint_eq(untouched, 77);
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

static void add_pause_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "pause");

	tcase_add_test(tcase, until_full_events_lost_are_told_between_stop_and_start);
	tcase_add_test(tcase, until_full_pause_without_loss_has_no_gap);
	tcase_add_test(tcase, until_full_blocking_reads_get_all_of_the_pause);
	tcase_add_test(tcase, until_full_filled_behind_the_readers_back_stops_after_its_events);
	tcase_add_test(tcase, create_flush_policy_without_log_gives_einval);
	tcase = add_case(suite, "full");
	tcase_add_loop_test(tcase, until_full_stops_when_a_largest_event_has_no_room, 0,
			    2 * (int)PX_ARRAY_SIZE(sizes));
	tcase_add_test(tcase, until_full_every_event_lost_is_counted);
	tcase_add_test(tcase, until_full_filtered_event_is_not_lost);
	tcase_add_test(tcase, until_full_control_events_are_never_lost);
	tcase = add_case(suite, "restart");
	tcase_add_test(tcase, until_full_restarts_when_half_is_free);
	tcase_add_test(tcase, until_full_restarts_when_empty);
	tcase_add_test(tcase, until_full_events_after_the_restart_come_behind_start);
	tcase_add_test(tcase, until_full_restart_tells_the_present_filter);
	tcase_add_test(tcase, until_full_two_pauses_are_told_apart);
}

static void add_control_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "stop, start, clear");

	tcase_add_test(tcase, until_full_loss_before_a_stop_by_call_is_marked_at_the_next_start);
	tcase_add_test(tcase, until_full_stop_and_start_while_not_full_are_recorded);
	tcase_add_test(tcase, until_full_stop_while_full_prevents_the_restart);
	tcase_add_test(tcase, until_full_stopped_and_read_ignores_events);
	tcase_add_test(tcase, until_full_start_while_full_allows_the_restart_again);
	tcase_add_test(tcase, until_full_start_with_some_room_starts_at_once);
	tcase_add_test(tcase, until_full_clear_while_full_needs_an_explicit_start);
	tcase_add_test(tcase, until_full_clear_in_the_middle_of_the_marks_forgets_them);
	tcase = add_case(suite, "filters");
	tcase_add_loop_test(tcase, until_full_filtered_marks_are_not_reported, 0, 16);
	tcase_add_test(tcase, until_full_filtered_start_leaves_resume_to_the_next_event);
	tcase_add_loop_test(tcase, until_full_stop_is_filtered_as_of_the_time_it_happened, 0, 2);
}

static void add_size_tests(Suite *suite)
{
	TCase *tcase = add_case(suite, "size");

	tcase_add_loop_test(tcase, until_full_events_within_the_size_are_all_recorded, 0,
			    (int)PX_ARRAY_SIZE(data_sizes));
	tcase_add_loop_test(tcase, until_full_events_of_threads_within_the_size_are_all_recorded, 0,
			    2);
	tcase_add_loop_test(tcase, until_full_threads_lose_nothing_before_it_is_full, 0, 2);
	tcase_add_test(tcase, until_full_wraps_many_times_without_a_fault);
	tcase_add_loop_test(tcase, until_full_hammered_and_read_keeps_its_order, 0, 2);
}

int main(void)
{
	Suite *suite = suite_create("until_full");

	add_pause_tests(suite);
	add_control_tests(suite);
	add_size_tests(suite);
	return run_suite(suite);
}
