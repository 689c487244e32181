/* SPDX-License-Identifier: MIT */
/* posix_trace_set_filter() and posix_trace_get_filter(): which events a stream leaves out. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"

static trace_id_t stream;
static trace_event_id_t a, b, c;

/* Create a stream in the place of the previous one, and do not start it. */
static void make_stream(int policy, size_t size, unsigned int nr_rings)
{
	posix_trace_shutdown(stream);
	stream = px_test_create(
		&(struct px_test_stream){.policy = policy, .size = size, .nr_rings = nr_rings});
}

static void setup(void)
{
	a = px_test_open_type("a");
	b = px_test_open_type("b");
	c = px_test_open_type("c");
	make_stream(0, 0, 1);
}

/* Make a set of up to three types; 0 stands for no type. */
static trace_event_set_t set_of(trace_event_id_t x, trace_event_id_t y, trace_event_id_t z)
{
	const trace_event_id_t ids[] = {x, y, z};
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	for (size_t i = 0; i < PX_ARRAY_SIZE(ids); i++)
		if (ids[i])
			ok(posix_trace_eventset_add(ids[i], &set));
	return set;
}

static void set_filter(trace_event_set_t set)
{
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
}

static void expect_filter(trace_event_set_t expected)
{
	trace_event_set_t got;

	memset(&got, 0x5a, sizeof(got));
	ok(posix_trace_get_filter(stream, &got));
	ck_assert_mem_eq(&got, &expected, sizeof(got));
}

static void expect_type(trace_event_id_t id)
{
	struct px_test_event event;

	px_test_expect(stream, id, &event);
}

/* Expect that the next event is a FILTER with these sets. */
static void expect_change(trace_event_set_t from, trace_event_set_t to)
{
	struct px_test_event event;

	px_test_expect(stream, POSIX_TRACE_FILTER, &event);
	ck_assert_uint_eq(event.length, 2 * sizeof(trace_event_set_t));
	ck_assert_mem_eq(event.data, &from, sizeof(from));
	ck_assert_mem_eq(event.data + sizeof(from), &to, sizeof(to));
	ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

static int status_now(void)
{
	return px_test_status(stream).posix_stream_status;
}

/* Record until the bounded stream stops automatically. */
static void fill(void)
{
	while (status_now() == POSIX_TRACE_RUNNING)
		posix_trace_event(c, NULL, 0);
}

/* GETFILT-1 FILT-3 */
START_TEST(get_filter_of_new_stream_is_empty)
{
	expect_filter(set_of(0, 0, 0));
}
END_TEST

/* SETFILT-1 GETFILT-1 */
START_TEST(set_filter_sets_adds_and_subtracts)
{
	trace_event_set_t set = set_of(a, b, 0);

	set_filter(set);
	expect_filter(set);
	set = set_of(b, c, POSIX_TRACE_START);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
	set = set_of(a, b, c);
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	expect_filter(set);
	set = set_of(a, POSIX_TRACE_START, POSIX_TRACE_STOP); /* STOP is not in the filter */
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET));
	expect_filter(set_of(b, c, 0));
	set_filter(set_of(c, 0, 0));
	expect_filter(set_of(c, 0, 0));
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
	expect_filter(set);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET));
	expect_filter(set_of(0, 0, 0));
}
END_TEST

/* SETFILT-1: the stream copies the caller's set */
START_TEST(set_filter_copies_the_set)
{
	trace_event_set_t set = set_of(a, 0, 0);

	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_eventset_add(b, &set));
	expect_filter(set_of(a, 0, 0));
	ok(posix_trace_get_filter(stream, &set));
	ok(posix_trace_eventset_add(c, &set)); /* SETADD-2 */
	expect_filter(set_of(a, 0, 0));
}
END_TEST

/* SETFILT-2 SETFILT-3 SETFILT-5 FILT-1 MODEL-1 EVENT-2 */
START_TEST(set_filter_leaves_out_its_members_from_now_on)
{
	set_filter(set_of(a, 0, 0)); /* before start, so there is no event */
	ok(posix_trace_start(stream));
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	set_filter(set_of(b, 0, 0));
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	set_filter(set_of(a, b, POSIX_TRACE_UNNAMED_USEREVENT));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	expect_type(POSIX_TRACE_START);
	expect_type(b); /* recorded before the type was in the filter */
	expect_change(set_of(a, 0, 0), set_of(b, 0, 0));
	expect_type(a);
	expect_type(POSIX_TRACE_UNNAMED_USEREVENT);
	expect_change(set_of(b, 0, 0), set_of(a, b, POSIX_TRACE_UNNAMED_USEREVENT));
	expect_type(0);
}
END_TEST

/* SETFILT-4 */
START_TEST(set_filter_while_suspended_records_nothing)
{
	set_filter(set_of(a, 0, 0));
	ok(posix_trace_start(stream));
	ok(posix_trace_stop(stream));
	set_filter(set_of(b, 0, 0));
	expect_type(POSIX_TRACE_START);
	expect_type(POSIX_TRACE_STOP);
	expect_type(0);
	ck_assert_int_eq(status_now(), POSIX_TRACE_SUSPENDED);
}
END_TEST

/* SETFILT-4: a stream that stopped automatically does not run. */
START_TEST(set_filter_on_full_stream_records_nothing)
{
	trace_event_id_t id;
	struct px_test_event event;

	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	fill();
	set_filter(set_of(a, 0, 0));
	expect_filter(set_of(a, 0, 0));
	while ((id = px_test_take(stream, &event)) && id != POSIX_TRACE_STOP)
		ck_assert_uint_ne(id, POSIX_TRACE_FILTER);
}
END_TEST

/* SETFILT-4 */
START_TEST(set_filter_without_change_records_it_all_the_same)
{
	ok(posix_trace_start(stream));
	set_filter(set_of(0, 0, 0));
	set_filter(set_of(0, 0, 0));
	expect_type(POSIX_TRACE_START);
	expect_change(set_of(0, 0, 0), set_of(0, 0, 0));
	expect_change(set_of(0, 0, 0), set_of(0, 0, 0));
	expect_type(0);
}
END_TEST

/* COMB-1 COMB-2: a FILTER event may fill a bounded stream. */
START_TEST(set_filter_until_a_bounded_stream_is_full_stops_it)
{
	int count = 0;

	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	while (status_now() == POSIX_TRACE_RUNNING) {
		set_filter(set_of(a, 0, 0));
		count++;
	}
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_FULL);
	ok(posix_trace_stop(stream)); /* no restart */
	expect_type(POSIX_TRACE_START);
	while (count-- > 0)
		expect_type(POSIX_TRACE_FILTER);
	expect_type(POSIX_TRACE_STOP);
	expect_type(0);
}
END_TEST

static int filter_in_child(void *unused)
{
	trace_event_set_t set;

	(void)unused;
	memset(&set, 0, sizeof(set));
	if (posix_trace_get_filter(stream, &set) != EINVAL)
		return 1;
	return posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET) == EINVAL ? 0 : 2;
}

/* SETFILT-6 GETFILT-2 KIND-1 KIND-3 GEN-10 GEN-11 */
START_TEST(filter_functions_refuse_bad_arguments_and_change_nothing)
{
	static const int hows[] = {0, 4, -1, 1 << 16, INT32_MIN, INT32_MAX};
	trace_event_set_t set = set_of(b, 0, 0), got = set_of(c, 0, 0);
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	set_filter(set_of(a, 0, 0));
	ok(posix_trace_start(stream));
	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++) {
		fails(posix_trace_set_filter(bad[i], &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
		fails(posix_trace_get_filter(bad[i], &got), EINVAL);
	}
	for (size_t i = 0; i < PX_ARRAY_SIZE(hows); i++)
		fails(posix_trace_set_filter(stream, &set, hows[i]), EINVAL);
	fails(posix_trace_set_filter(stream, NULL, POSIX_TRACE_SET_EVENTSET), EINVAL);
	fails(posix_trace_get_filter(stream, NULL), EINVAL);
	ck_assert_int_eq(px_test_in_child(filter_in_child, NULL), 0);
	set = set_of(c, 0, 0);
	ck_assert_mem_eq(&got, &set, sizeof(got));
	expect_filter(set_of(a, 0, 0));
	expect_type(POSIX_TRACE_START);
	expect_type(0);
}
END_TEST

static int result;

static void filter_cancelled(void)
{
	trace_event_set_t set;

	result = posix_trace_get_filter(stream, &set) |
		 posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
}

/* GEN-7 GEN-2 */
START_TEST(filter_functions_with_cancellation_pending_are_done_in_full)
{
	ok(posix_trace_start(stream));
	result = -1;
	px_test_with_cancellation_pending(filter_cancelled);
	ck_assert_int_eq(result, 0);
	errno = 77;
	set_filter(set_of(0, 0, 0));
	ck_assert_int_eq(errno, 77);
	expect_type(POSIX_TRACE_START);
	expect_type(POSIX_TRACE_FILTER);
	expect_type(POSIX_TRACE_FILTER);
}
END_TEST

/* FILT-3 MULTI-5 */
START_TEST(filter_of_one_stream_is_not_that_of_another)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});

	set_filter(set_of(a, 0, 0));
	ok(posix_trace_start(stream));
	ok(posix_trace_start(other));
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	expect_type(POSIX_TRACE_START);
	expect_type(b);
	stream = other;
	expect_filter(set_of(0, 0, 0));
	expect_type(POSIX_TRACE_START);
	expect_type(a);
	expect_type(b);
}
END_TEST

/* FILT-3 SETFILT-1: stop and start do not change a filter. */
START_TEST(filter_is_kept_by_stop_and_start)
{
	set_filter(set_of(a, 0, 0));
	for (int i = 0; i < 3; i++) {
		ok(posix_trace_start(stream));
		posix_trace_event(a, NULL, 0);
		ok(posix_trace_stop(stream));
		expect_filter(set_of(a, 0, 0));
		expect_type(POSIX_TRACE_START);
		expect_type(POSIX_TRACE_STOP);
		expect_type(0);
	}
}
END_TEST

/* System event types in a filter. */

/* SYSEV-9 FILT-2 */
START_TEST(filtered_start_and_stop_are_not_recorded_and_take_effect)
{
	set_filter(set_of(POSIX_TRACE_START, POSIX_TRACE_STOP, 0));
	ok(posix_trace_start(stream));
	ck_assert_int_eq(status_now(), POSIX_TRACE_RUNNING);
	posix_trace_event(a, NULL, 0);
	ok(posix_trace_stop(stream));
	ck_assert_int_eq(status_now(), POSIX_TRACE_SUSPENDED);
	posix_trace_event(b, NULL, 0);
	expect_type(a);
	expect_type(0);
}
END_TEST

/* SYSEV-9: only if the type is in both sets */
START_TEST(filtered_filter_event_is_recorded_when_it_enters_and_leaves)
{
	ok(posix_trace_start(stream));
	set_filter(set_of(POSIX_TRACE_FILTER, 0, 0));
	set_filter(set_of(POSIX_TRACE_FILTER, a, 0));
	set_filter(set_of(POSIX_TRACE_FILTER, b, 0));
	set_filter(set_of(0, 0, 0));
	expect_type(POSIX_TRACE_START);
	expect_change(set_of(0, 0, 0), set_of(POSIX_TRACE_FILTER, 0, 0));
	expect_change(set_of(POSIX_TRACE_FILTER, b, 0), set_of(0, 0, 0));
	expect_type(0);
}
END_TEST

/* SYSEV-9 FILT-2: AMB-6: a stream that records only one type */
START_TEST(filter_of_all_but_one_type_leaves_that_one)
{
	struct px_test_event event;
	trace_event_set_t set;

	make_stream(POSIX_TRACE_LOOP, 4096, 1);
	ok(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ok(posix_trace_eventset_del(a, &set));
	set_filter(set);
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < 500; i++) { /* this event overwrites older ones: OVERFLOW, RESUME */
		px_test_trace(a, i);
		px_test_trace(b, i);
	}
	set_filter(set);
	ok(posix_trace_stop(stream));
	ck_assert_uint_eq(px_test_take(stream, &event), a);
	for (uint32_t last = px_test_number(&event); last < 499; last++) {
		px_test_expect(stream, a, &event);
		ck_assert_uint_eq(px_test_number(&event), last + 1);
	}
	expect_type(0);
}
END_TEST

/* SYSEV-9 FILT-2: the automatic STOP, and the START of the restart */
START_TEST(filtered_automatic_stop_and_restart_take_effect)
{
	struct px_test_event event;

	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	set_filter(set_of(POSIX_TRACE_START, POSIX_TRACE_STOP, 0));
	ok(posix_trace_start(stream));
	fill();
	while (px_test_take(stream, &event))
		ck_assert_uint_eq(event.info.posix_event_id, c);
	ck_assert_int_eq(status_now(), POSIX_TRACE_RUNNING);
	posix_trace_event(a, NULL, 0);
	expect_type(a);
	expect_type(0);
}
END_TEST

/* Read a stream that has filled up, and count its STOP events. */
static int count_stops(void)
{
	struct px_test_event event;
	int count = 0;

	for (trace_event_id_t id; (id = px_test_take(stream, &event));)
		count += id == POSIX_TRACE_STOP;
	return count;
}

/* FILT-1 SETFILT-5 UFULL-2: the stream stopped before STOP was in the filter. */
START_TEST(automatic_stop_generated_before_the_filter_is_reported)
{
	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_start(stream));
	fill();
	set_filter(set_of(POSIX_TRACE_STOP, 0, 0));
	ck_assert_int_eq(count_stops(), 1);
}
END_TEST

/* FILT-1 FILT-2 SYSEV-9: the opposite case */
START_TEST(automatic_stop_filtered_when_it_was_generated_is_not_reported)
{
	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	set_filter(set_of(POSIX_TRACE_STOP, 0, 0));
	ok(posix_trace_start(stream));
	fill();
	set_filter(set_of(0, 0, 0));
	ck_assert_int_eq(count_stops(), 0);
}
END_TEST

/* Forced: the filter changes during an event, and an event happens during the change. */

static const struct {
	const char *point;
	bool is_in; /* this writer has tested the old filter for the last time */
} steps[] = {
	{"point.state.loaded", false}, {"ring.reserve.loaded", false}, {"ring.reserve.done", false},
	{"ring.claim.loaded", false},  {"ring.claim.done", false},     {"record.write.first", true},
	{"ring.commit.ready", true},   {"ring.commit.done", true},
};
#define NR_STEPS PX_ARRAY_SIZE(steps)

/* SETFILT-8 SETFILT-9: a writer is stopped at each step, in a stream with one ring and in one with several. */
START_TEST(set_filter_with_writers_at_all_steps_takes_effect_at_once)
{
	static struct px_test_writer writers[NR_STEPS];
	struct px_test_event event;
	bool changed = false;
	uint32_t seen = 0;

	make_stream(0, 0, (unsigned int)_i);
	ok(posix_trace_start(stream));
	for (size_t i = 0; i < NR_STEPS; i++) {
		if (!px_test_passes((unsigned int)_i, steps[i].point))
			continue;
		px_test_hold(&writers[i], steps[i].point, a, (uint32_t)i);
		ck_assert(writers[i].was_held);
	}
	set_filter(set_of(a, 0, 0));
	for (size_t i = 0; i < NR_STEPS; i++)
		px_test_release(&writers[i]);
	for (trace_event_id_t id; (id = px_test_take(stream, &event));) {
		changed |= id == POSIX_TRACE_FILTER;
		if (id != a)
			continue;
		ck_assert(!changed);
		seen |= 1u << px_test_number(&event);
	}
	for (size_t i = 0; i < NR_STEPS; i++)
		ck_assert_int_eq(seen >> i & 1, steps[i].is_in);
}
END_TEST

/* SETFILT-8: if the filter loses the type while a writer records, the stream has the event or it does not. */
START_TEST(set_filter_emptied_with_writers_at_all_steps_records_once_at_most)
{
	static struct px_test_writer writers[NR_STEPS];
	struct px_test_event event;
	uint32_t seen = 0;

	set_filter(set_of(b, 0, 0));
	ok(posix_trace_start(stream));
	for (size_t i = 0; i < NR_STEPS; i++)
		px_test_hold(&writers[i], steps[i].point, a, (uint32_t)i);
	for (int i = 0; i < 5; i++)
		set_filter(set_of(i % 2 ? b : 0, c, 0));
	for (size_t i = 0; i < NR_STEPS; i++)
		px_test_release(&writers[i]);
	for (trace_event_id_t id; (id = px_test_take(stream, &event));) {
		if (id != a)
			continue;
		ck_assert_uint_eq(seen >> px_test_number(&event) & 1, 0);
		seen |= 1u << px_test_number(&event);
	}
	ck_assert_uint_eq(seen, (1u << NR_STEPS) - 1); /* the filter never had this type */
}
END_TEST

static void trace_a_and_b_inside(void)
{
	px_test_trace(a, 42);
	px_test_trace(b, 42);
}

/* SETFILT-8: until the change is complete, the old filter is valid. */
START_TEST(set_filter_event_before_the_change_is_tested_against_the_old)
{
	set_filter(set_of(a, 0, 0));
	ok(posix_trace_start(stream));
	px_test_at_point("stream.filter.written", trace_a_and_b_inside);
	set_filter(set_of(b, 0, 0));
	trace_a_and_b_inside();
	expect_type(POSIX_TRACE_START);
	expect_type(b);
	expect_change(set_of(a, 0, 0), set_of(b, 0, 0));
	expect_type(a);
	expect_type(0);
}
END_TEST

static struct px_test_writer slow_writer;

static void let_slow_writer_go(void)
{
	px_test_release(&slow_writer);
	px_test_trace(a, 2);
}

/*
 * SETFILT-8: a writer reads a filter that was valid four changes ago, while its memory is being rewritten.  No valid
 * filter has its type, and the stream records the later event.
 */
START_TEST(set_filter_four_changes_under_a_slow_writer_do_not_mislead_it)
{
	struct px_test_event event;
	int count = 0;

	ok(posix_trace_start(stream));
	px_test_hold(&slow_writer, "point.state.loaded", a, 1);
	for (int i = 0; i < 3; i++)
		set_filter(set_of(b, 0, 0));
	px_test_at_point("stream.filter.written", let_slow_writer_go);
	set_filter(set_of(a, 0, 0));
	for (trace_event_id_t id; (id = px_test_take(stream, &event)) != 0;) {
		if (id == a)
			count++;
	}
	ck_assert_int_eq(count, 2);
}
END_TEST

/* Make a bounded stream whose filter has FILTER, so that set_filter() needs no room, and record this many events. */
static void make_quiet_bounded_stream(uint32_t events)
{
	make_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	set_filter(set_of(POSIX_TRACE_FILTER, 0, 0));
	ok(posix_trace_start(stream));
	for (uint32_t i = 0; i < events; i++)
		px_test_trace(c, i);
}

/* UFULL-1 UFULL-2 UFULL-9: when the writer ends the event that fills the stream, it finds another filter. */
START_TEST(set_filter_inside_the_event_that_fills_the_stream_stops_it_all_the_same)
{
	struct px_test_event event;
	trace_event_id_t id;
	uint32_t n = 0;

	for (make_quiet_bounded_stream(0); status_now() == POSIX_TRACE_RUNNING; n++)
		px_test_trace(c, n);
	make_quiet_bounded_stream(n - 1);
	px_test_hold(&slow_writer, steps[_i].point, c, n - 1);
	set_filter(set_of(POSIX_TRACE_FILTER, a, 0));
	px_test_release(&slow_writer);
	/* The test does not ask for the status, because that call would find the stream full. */
	expect_type(POSIX_TRACE_START);
	for (uint32_t i = 0; i < n - 1; i++) {
		px_test_expect(stream, c, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	id = px_test_take(stream, &event);
	if (id == c) {
		expect_type(POSIX_TRACE_STOP);
	} else { /* reserved: its slots were enough to stop the stream before the event was recorded */
		ck_assert_uint_eq(id, POSIX_TRACE_STOP);
		expect_type(POSIX_TRACE_OVERFLOW);
		expect_type(POSIX_TRACE_RESUME);
	}
	expect_type(POSIX_TRACE_START);
	expect_type(0);
}
END_TEST

/* Threads. */

enum { WRITERS = 3, ROUNDS = 300 };

static void *write_until_finished(void *unused)
{
	for (uint32_t i = 0; px_test_pace_writer(); i++) {
		px_test_trace(a, i);
		px_test_trace(b, i);
	}
	return unused;
}

static bool has(const unsigned char *set, trace_event_id_t id)
{
	trace_event_set_t copy;
	int member;

	memcpy(&copy, set, sizeof(copy));
	ok(posix_trace_eventset_ismember(id, &copy, &member));
	return member;
}

/* SETFILT-9 SETFILT-8: between two changes, no event is recorded that both filters leave out. */
START_TEST(set_filter_while_threads_write_events_obey_the_filters_around_them)
{
	const trace_event_set_t filters[] = {set_of(a, 0, 0), set_of(a, b, 0), set_of(b, 0, 0),
					     set_of(a, b, c), set_of(0, 0, 0)};
	unsigned char events[ROUNDS + 1] = {0}; /* bit 0: an event a after this change; bit 1: an event b */
	trace_event_set_t now[ROUNDS + 1] = {set_of(0, 0, 0)};
	struct px_test_event event;
	pthread_t thread[WRITERS];
	int changes = 0;

	make_stream(POSIX_TRACE_LOOP, 8 << 20, (unsigned int)_i);
	ok(posix_trace_start(stream));
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, write_until_finished, NULL);
	for (size_t i = 0; i < ROUNDS; i++) {
		px_test_pace_control();
		set_filter(filters[i % PX_ARRAY_SIZE(filters)]);
	}
	px_test_pace_finish();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	for (trace_event_id_t id; (id = px_test_take(stream, &event));) {
		ck_assert(id != POSIX_TRACE_OVERFLOW);
		if (id == POSIX_TRACE_FILTER) {
			ck_assert_int_lt(changes, ROUNDS);
			ck_assert_mem_eq(event.data, &now[changes], sizeof(now[0]));
			memcpy(&now[++changes], event.data + sizeof(now[0]), sizeof(now[0]));
		}
		events[changes] |= (unsigned char)((id == a ? 1 : 0) | (id == b ? 2 : 0));
	}
	ck_assert_int_eq(changes, ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		const unsigned char *left = (const unsigned char *)&now[i];
		const unsigned char *right = (const unsigned char *)&now[i + 1];

		ck_assert(!(events[i] & 1) || !has(left, a) || !has(right, a));
		ck_assert(!(events[i] & 2) || !has(left, b) || !has(right, b));
	}
	ck_assert(!(events[ROUNDS] & 1) || !has((const unsigned char *)&now[ROUNDS], a));
	ck_assert(!(events[ROUNDS] & 2) || !has((const unsigned char *)&now[ROUNDS], b));
}
END_TEST

static int failures;

/* Add the types to the filter and remove them, one by one. */
static void *change_filter(void *first)
{
	trace_event_id_t id = (trace_event_id_t)(uintptr_t)first;

	for (int i = 0; i < ROUNDS; i++) {
		trace_event_set_t set;
		int how = i % 2 ? POSIX_TRACE_SUB_EVENTSET : POSIX_TRACE_ADD_EVENTSET;
		int failed = posix_trace_eventset_empty(&set) |
			     posix_trace_eventset_add(id + (trace_event_id_t)(i / 2 % 64), &set) |
			     posix_trace_set_filter(stream, &set, how);

		__atomic_fetch_or(&failures, failed, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* SETFILT-8 GEN-3: each change begins where another one ended, and no change is lost. */
START_TEST(set_filter_by_many_threads_is_a_chain_of_changes)
{
	trace_event_set_t now = set_of(0, 0, 0);
	struct px_test_event event;
	pthread_t thread[WRITERS];
	int changes = 0;

	make_stream(POSIX_TRACE_LOOP, 8 << 20, (unsigned int)_i);
	ok(posix_trace_start(stream));
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, change_filter, (void *)(1000 + 100 * i));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(failures, 0);
	expect_type(POSIX_TRACE_START);
	for (; px_test_take(stream, &event); changes++) {
		int different = 0;

		ck_assert_uint_eq(event.info.posix_event_id, POSIX_TRACE_FILTER);
		ck_assert_mem_eq(event.data, &now, sizeof(now));
		memcpy(&now, event.data + sizeof(now), sizeof(now));
		for (size_t i = 0; i < sizeof(now); i++)
			different += __builtin_popcount(event.data[i] ^
							event.data[sizeof(now) + i]);
		ck_assert_int_eq(different, 1);
	}
	ck_assert_int_eq(changes, WRITERS * ROUNDS);
	expect_filter(set_of(0, 0, 0));
}
END_TEST

static TCase *filter_cases(void)
{
	TCase *tcase = tcase_create("filter");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, get_filter_of_new_stream_is_empty);
	tcase_add_test(tcase, set_filter_sets_adds_and_subtracts);
	tcase_add_test(tcase, set_filter_copies_the_set);
	tcase_add_test(tcase, set_filter_leaves_out_its_members_from_now_on);
	tcase_add_test(tcase, set_filter_while_suspended_records_nothing);
	tcase_add_test(tcase, set_filter_on_full_stream_records_nothing);
	tcase_add_test(tcase, set_filter_without_change_records_it_all_the_same);
	tcase_add_test(tcase, set_filter_until_a_bounded_stream_is_full_stops_it);
	tcase_add_test(tcase, filter_functions_refuse_bad_arguments_and_change_nothing);
	tcase_add_test(tcase, filter_functions_with_cancellation_pending_are_done_in_full);
	tcase_add_test(tcase, filter_of_one_stream_is_not_that_of_another);
	tcase_add_test(tcase, filter_is_kept_by_stop_and_start);
	tcase_add_test(tcase, filtered_start_and_stop_are_not_recorded_and_take_effect);
	tcase_add_test(tcase, filtered_filter_event_is_recorded_when_it_enters_and_leaves);
	tcase_add_test(tcase, filter_of_all_but_one_type_leaves_that_one);
	tcase_add_test(tcase, filtered_automatic_stop_and_restart_take_effect);
	tcase_add_test(tcase, automatic_stop_generated_before_the_filter_is_reported);
	tcase_add_test(tcase, automatic_stop_filtered_when_it_was_generated_is_not_reported);
	return tcase;
}

static TCase *race_cases(void)
{
	TCase *tcase = tcase_create("races");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, set_filter_with_writers_at_all_steps_takes_effect_at_once, 0, 2);
	tcase_add_test(tcase, set_filter_emptied_with_writers_at_all_steps_records_once_at_most);
	tcase_add_test(tcase, set_filter_event_before_the_change_is_tested_against_the_old);
	tcase_add_test(tcase, set_filter_four_changes_under_a_slow_writer_do_not_mislead_it);
	tcase_add_loop_test(tcase,
			    set_filter_inside_the_event_that_fills_the_stream_stops_it_all_the_same,
			    0, NR_STEPS);
	tcase_add_loop_test(
		tcase, set_filter_while_threads_write_events_obey_the_filters_around_them, 0, 2);
	tcase_add_loop_test(tcase, set_filter_by_many_threads_is_a_chain_of_changes, 0, 2);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("filter");

	suite_add_tcase(suite, filter_cases());
	suite_add_tcase(suite, race_cases());
	return run_suite(suite);
}
