/* SPDX-License-Identifier: MIT */
/* posix_trace_clear(): the stream is as after its creation, except for what the standard keeps. */
#include "support/common.h"

#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"

static trace_id_t stream;
static trace_event_id_t type;

/* Create a stream in the place of the previous one. */
static void use_stream(int policy, size_t size, unsigned int nr_rings)
{
	posix_trace_shutdown(stream);
	stream = px_test_create(
		&(struct px_test_stream){.policy = policy, .size = size, .nr_rings = nr_rings});
	ok(posix_trace_start(stream));
}

static void setup(void)
{
	ok(posix_trace_eventid_open("cleared", &type));
	use_stream(POSIX_TRACE_LOOP, 4096, 1);
}

static void expect_status(int status, int full, int overrun)
{
	px_test_expect_status(stream, status, full, overrun);
}

static void expect_number(uint32_t number)
{
	struct px_test_event event;

	px_test_expect(stream, type, &event);
	ck_assert_uint_eq(px_test_number(&event), number);
}

static void expect_type(trace_event_id_t id)
{
	struct px_test_event event;

	px_test_expect(stream, id, &event);
}

static void expect_loss(uint64_t overwritten, uint64_t dropped)
{
	struct txtrace_loss loss;

	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten, overwritten);
	ck_assert_uint_eq(loss.dropped, dropped);
	ck_assert_uint_eq(loss.abandoned, 0);
}

static void trace_many(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		px_test_trace(type, i);
}

/* Record until the bounded stream stops automatically.  Return the number of events. */
static uint32_t fill(void)
{
	uint32_t n = 0;

	while (px_test_status(stream).posix_stream_status == POSIX_TRACE_RUNNING)
		px_test_trace(type, n++);
	return n;
}

/* CLEAR-1 CLEAR-2 CLEAR-9 UNREAD-1 */
START_TEST(clear_running_stream_forgets_all_and_goes_on)
{
	trace_many(10);
	ok(posix_trace_clear(stream));
	expect_type(0);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_trace(type, 77);
	expect_number(77); /* and no START */
	expect_type(0);
}
END_TEST

/* CLEAR-1 CLEAR-2 */
START_TEST(clear_suspended_stream_forgets_all_and_stays_suspended)
{
	trace_many(10);
	ok(posix_trace_stop(stream));
	ok(posix_trace_clear(stream));
	expect_type(0);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_trace(type, 1);
	expect_type(0);
	ok(posix_trace_start(stream));
	px_test_trace(type, 2);
	expect_type(POSIX_TRACE_START);
	expect_number(2);
}
END_TEST

/* CLEAR-1 CLEAR-2 */
START_TEST(clear_new_or_empty_stream_changes_nothing)
{
	ok(posix_trace_clear(stream));
	ok(posix_trace_clear(stream));
	expect_type(0);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_shutdown(stream));
	stream = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	ok(posix_trace_clear(stream));
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	expect_type(0);
}
END_TEST

/* CLEAR-3 CLEAR-5 CLEAR-1: an overrun that no call has reported yet, with its OVERFLOW and RESUME */
START_TEST(clear_overrun_looping_stream_is_as_new)
{
	trace_many(500);
	ok(posix_trace_clear(stream));
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	expect_loss(0, 0);
	px_test_trace(type, 1000);
	expect_number(1000);
	expect_type(0);
	expect_loss(0, 0);
}
END_TEST

/* CLEAR-1: a synthesized event that the next read would report, but that is in no ring. */
START_TEST(clear_between_overflow_and_resume_forgets_both_and_the_event)
{
	trace_many(500);
	for (int i = 0; i < _i; i++)
		expect_type(i == 0 ? POSIX_TRACE_OVERFLOW : POSIX_TRACE_RESUME);
	ok(posix_trace_clear(stream));
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_trace(type, 1000);
	expect_number(1000);
	expect_type(0);
}
END_TEST

/* CLEAR-1: events were lost, but there is no event yet before which OVERFLOW and RESUME could be reported. */
START_TEST(clear_with_a_gap_that_waits_for_its_event_forgets_the_gap)
{
	struct px_test_event event;
	trace_event_set_t set;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	fill();
	px_test_trace(type, 1); /* lost */
	while (px_test_take(stream, &event))
		;
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN);
	if (_i)
		ok(posix_trace_clear(stream));
	px_test_trace(type, 7);
	if (!_i) { /* clear discards all of this */
		expect_type(POSIX_TRACE_OVERFLOW);
		expect_type(POSIX_TRACE_RESUME);
	}
	expect_number(7);
	expect_type(0);
}
END_TEST

/* CLEAR-10 CLEAR-3 CLEAR-1 CLEAR-5 COMB-2: AMB-3 */
START_TEST(clear_full_stream_is_suspended_empty_and_disarmed)
{
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	n = fill();
	if (_i)
		px_test_trace(type, 1); /* lost */
	ok(posix_trace_clear(stream));
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	expect_loss(0, 0);
	expect_type(0); /* clear records no STOP, and does not start the stream */
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_trace(type, 2);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_start(stream));
	expect_type(POSIX_TRACE_START);
	ck_assert_uint_ge(fill() + 20, n); /* all slots are free again */
}
END_TEST

/* CLEAR-1 CLEAR-2: cases: the automatic STOP was reported; the restart is done; the restart has only begun. */
START_TEST(clear_half_read_full_stream_leaves_no_traces)
{
	struct px_test_event event;
	int running;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	fill();
	px_test_trace(type, 1);
	for (int i = 0; i < _i * 8; i++)
		px_test_take(stream, &event);
	running = px_test_status(stream).posix_stream_status;
	ok(posix_trace_clear(stream));
	expect_status(running, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	expect_type(0);
	if (running != POSIX_TRACE_RUNNING) {
		ok(posix_trace_start(stream));
		expect_type(POSIX_TRACE_START);
	}
	px_test_trace(type, 7);
	expect_number(7);
	expect_type(0);
}
END_TEST

/* CLEAR-3 SETSS-1 ATTR-4: each clear frees all slots. */
START_TEST(clear_gives_all_space_back)
{
	size_t size, event_size;
	trace_attr_t attr;
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, (unsigned int)_i);
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getstreamsize(&attr, &size));
	ok(posix_trace_attr_getmaxusereventsize(&attr, sizeof(uint32_t), &event_size));
	n = (uint32_t)(size / event_size);
	for (int round = 0; round < 50; round++) {
		ok(posix_trace_clear(stream)); /* also of START */
		trace_many(n);
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
		expect_loss(0, 0);
	}
	for (uint32_t i = 0; i < n; i++)
		expect_number(i);
	expect_type(0);
}
END_TEST

/* CLEAR-5 FILT-3 GETFILT-1 CLEAR-9: AMB-2; and no FILTER event reports it */
START_TEST(clear_empties_the_filter)
{
	trace_event_set_t set, got;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(type, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_clear(stream));
	ok(posix_trace_get_filter(stream, &got));
	ok(posix_trace_eventset_empty(&set));
	ck_assert_mem_eq(&got, &set, sizeof(set));
	px_test_trace(type, 1);
	expect_number(1);
	expect_type(0);
}
END_TEST

/* CLEAR-4 MAP-4 */
START_TEST(clear_leaves_the_mapping_alone)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t again;

	ok(posix_trace_clear(stream));
	ok(posix_trace_eventid_get_name(stream, type, name));
	ck_assert_str_eq(name, "cleared");
	ok(posix_trace_eventid_open("cleared", &again));
	ck_assert_uint_eq(again, type);
}
END_TEST

/* CLEAR-9 CRTIME-4 */
START_TEST(clear_leaves_the_attributes_alone)
{
	trace_attr_t before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	ok(posix_trace_get_attr(stream, &before));
	sleep_ms(2);
	ok(posix_trace_clear(stream));
	ok(posix_trace_get_attr(stream, &after));
	ck_assert_mem_eq(&before, &after, sizeof(before));
}
END_TEST

static struct {
	pthread_t thread;
	pid_t tid;
	sem_t started;
	int result;
	trace_event_id_t id;
	uint32_t number;
} reader;

static void *read_one(void *unused)
{
	struct posix_trace_event_info info;
	size_t length;
	int unavailable;

	reader.tid = gettid();
	sem_post(&reader.started);
	reader.result = posix_trace_getnext_event(stream, &info, &reader.number,
						  sizeof(reader.number), &length, &unavailable);
	reader.id = info.posix_event_id;
	return unused;
}

/* CLEAR-9 GETNEXT-2: the reader gets the first event after the clear. */
START_TEST(clear_leaves_a_sleeping_reader_asleep)
{
	ok(posix_trace_clear(stream));
	sem_init(&reader.started, 0, 0);
	pthread_create(&reader.thread, NULL, read_one, NULL);
	sem_wait(&reader.started);
	for (int i = 0; i < 5; i++) {
		px_test_wait_asleep(reader.tid);
		ok(posix_trace_clear(stream));
	}
	px_test_wait_asleep(reader.tid);
	px_test_trace(type, 55);
	pthread_join(reader.thread, NULL);
	ck_assert_int_eq(reader.result, 0);
	ck_assert_uint_eq(reader.id, type);
	ck_assert_uint_eq(reader.number, 55);
}
END_TEST

/* MULTI-5 CLEAR-1 */
START_TEST(clear_leaves_other_streams_alone)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});

	ok(posix_trace_start(other));
	px_test_trace(type, 1);
	ok(posix_trace_clear(other));
	expect_type(POSIX_TRACE_START);
	expect_number(1);
	stream = other;
	expect_type(0);
}
END_TEST

static int clear_in_child(void *unused)
{
	(void)unused;
	return posix_trace_clear(stream) == EINVAL ? 0 : 1;
}

/* CLEAR-11 KIND-1 KIND-3 GEN-10 */
START_TEST(clear_refuses_bad_identifiers)
{
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	px_test_trace(type, 1);
	px_test_bad_trids(bad);
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(posix_trace_clear(bad[i]), EINVAL);
	ck_assert_int_eq(px_test_in_child(clear_in_child, NULL), 0);
	expect_type(POSIX_TRACE_START);
	expect_number(1);
}
END_TEST

static int result;

static void clear_cancelled(void)
{
	result = posix_trace_clear(stream);
}

/* GEN-7 GEN-2 */
START_TEST(clear_with_cancellation_pending_is_done_in_full)
{
	trace_many(3);
	result = -1;
	px_test_with_cancellation_pending(clear_cancelled);
	ck_assert_int_eq(result, 0);
	errno = 77;
	ok(posix_trace_clear(stream));
	ck_assert_int_eq(errno, 77);
	expect_type(0);
}
END_TEST

/* Events whose sequence is cleared in the middle. */

static void trace_inside(void)
{
	px_test_trace(type, 42);
}

/* CLEAR-6: an event that is recorded during the call is in the stream or is not; the call has no other effect on it. */
START_TEST(clear_event_in_the_middle_is_recorded_whole_or_not)
{
	struct px_test_event event;
	trace_event_id_t id;

	trace_many(_i ? 500 : 5);
	px_test_at_point("stream.clear.cut", trace_inside);
	ok(posix_trace_clear(stream));
	px_test_trace(type, 43);
	id = px_test_take(stream, &event);
	if (id == type && px_test_number(&event) == 42)
		id = px_test_take(stream, &event);
	ck_assert_uint_eq(id, type);
	ck_assert_uint_eq(px_test_number(&event), 43);
	expect_type(0);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

static void fill_inside(void)
{
	trace_many(1000);
}

/* CLEAR-6 CLEAR-2 COMB-1: if a stream fills up during the call, its status is never "running" and "full" together. */
START_TEST(clear_stream_that_fills_in_the_middle_keeps_its_rules)
{
	struct px_test_event event;
	struct posix_trace_status_info status;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	trace_many(10);
	px_test_at_point("stream.clear.cut", fill_inside);
	ok(posix_trace_clear(stream));
	status = px_test_status(stream);
	ck_assert(status.posix_stream_status == POSIX_TRACE_SUSPENDED ||
		  status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	while (px_test_take(stream, &event))
		;
	ok(posix_trace_start(stream));
	while (px_test_take(stream, &event))
		;
	px_test_trace(type, 7);
	expect_number(7);
}
END_TEST

static const char *const points[] = {
	"point.state.loaded", "ring.reserve.loaded", "ring.reserve.done", "ring.claim.loaded",
	"ring.claim.done",    "record.write.first",  "ring.commit.ready", "ring.commit.done",
};
#define NR_POINTS PX_ARRAY_SIZE(points)

/* CLEAR-6 CLEAR-1: a writer is stopped at each step of its event. */
START_TEST(clear_with_writers_at_all_steps_leaves_their_events_at_most_once)
{
	static struct px_test_writer writers[NR_POINTS];
	struct px_test_event event;
	uint32_t seen = 0, held = 0;

	use_stream(_i & 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP, 0, _i & 1);
	trace_many(20);
	for (size_t i = 0; i < NR_POINTS; i++) {
		if (!px_test_passes(_i & 1, points[i]))
			continue;
		px_test_hold(&writers[i], points[i], type, 1000000 + (uint32_t)i);
		ck_assert(writers[i].was_held);
		held |= 1u << i;
	}
	ok(posix_trace_clear(stream));
	for (size_t i = 0; i < NR_POINTS; i++)
		px_test_release(&writers[i]);
	px_test_trace(type, 2000000);
	while (px_test_take(stream, &event)) {
		uint32_t number = px_test_number(&event);

		ck_assert_uint_eq(event.info.posix_event_id, type);
		ck_assert_uint_ge(number, 1000000); /* nothing from before */
		ck_assert_uint_lt(seen, 2000000);
		if (number == 2000000) {
			seen |= 1u << 30;
		} else {
			ck_assert_uint_eq(seen & 1u << (number - 1000000), 0);
			seen |= 1u << (number - 1000000);
		}
	}
	ck_assert_uint_ne(seen & 1u << 30, 0);
	/*
	 * A writer that had not committed its event repeats it, so the event is in the stream.  Earlier events are
	 * gone.
	 */
	ck_assert_uint_eq(seen & 0x1f, held & 0x1f);
	ck_assert_uint_eq(seen & 0x80, 0);
}
END_TEST

enum { WRITERS = 3 };

static void *write_until_finished(void *argument)
{
	uint32_t writer = (uint32_t)(uintptr_t)argument << 28;

	for (uint32_t i = 0; px_test_pace_writer(); i++)
		px_test_trace(type, writer | i);
	return NULL;
}

/* CLEAR-1 CLEAR-6 GEN-3: the reader returns only events recorded after the clear, complete and in order. */
START_TEST(clear_while_threads_write_nothing_comes_back)
{
	pthread_t thread[WRITERS];
	uint32_t last[WRITERS] = {0};
	struct px_test_event event;

	use_stream(POSIX_TRACE_LOOP, 65536, (unsigned int)_i);
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, write_until_finished, (void *)i);
	for (int round = 0; round < 500; round++) {
		px_test_pace_control();
		ok(posix_trace_clear(stream));
		for (int i = 0; i < 40 && px_test_take(stream, &event); i++) {
			uint32_t number;

			if (event.info.posix_event_id != type)
				continue; /* OVERFLOW, RESUME */
			number = px_test_number(&event);
			ck_assert_uint_lt(number >> 28, WRITERS);
			ck_assert_uint_ge(number & 0xfffffff, last[number >> 28]);
			last[number >> 28] = (number & 0xfffffff) + 1;
		}
	}
	px_test_pace_finish();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	ok(posix_trace_clear(stream));
	expect_type(0);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clear");
	TCase *tcase = tcase_create("clear");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, clear_running_stream_forgets_all_and_goes_on);
	tcase_add_test(tcase, clear_suspended_stream_forgets_all_and_stays_suspended);
	tcase_add_test(tcase, clear_new_or_empty_stream_changes_nothing);
	tcase_add_test(tcase, clear_overrun_looping_stream_is_as_new);
	tcase_add_loop_test(tcase, clear_between_overflow_and_resume_forgets_both_and_the_event, 0,
			    3);
	tcase_add_loop_test(tcase, clear_with_a_gap_that_waits_for_its_event_forgets_the_gap, 0, 2);
	tcase_add_loop_test(tcase, clear_full_stream_is_suspended_empty_and_disarmed, 0, 2);
	tcase_add_loop_test(tcase, clear_half_read_full_stream_leaves_no_traces, 0, 11);
	tcase_add_loop_test(tcase, clear_gives_all_space_back, 0, 2);
	tcase_add_test(tcase, clear_empties_the_filter);
	tcase_add_test(tcase, clear_leaves_the_mapping_alone);
	tcase_add_test(tcase, clear_leaves_the_attributes_alone);
	tcase_add_test(tcase, clear_leaves_a_sleeping_reader_asleep);
	tcase_add_test(tcase, clear_leaves_other_streams_alone);
	tcase_add_test(tcase, clear_refuses_bad_identifiers);
	tcase_add_test(tcase, clear_with_cancellation_pending_is_done_in_full);
	tcase_add_loop_test(tcase, clear_event_in_the_middle_is_recorded_whole_or_not, 0, 2);
	tcase_add_test(tcase, clear_stream_that_fills_in_the_middle_keeps_its_rules);
	tcase_add_loop_test(tcase, clear_with_writers_at_all_steps_leaves_their_events_at_most_once,
			    0, 4);
	tcase_add_loop_test(tcase, clear_while_threads_write_nothing_comes_back, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
