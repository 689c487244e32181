/* SPDX-License-Identifier: MIT */
/* posix_trace_get_status(), and several streams of one process. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/compiler.h"
#include "ring/record.h"

static trace_id_t stream;
static trace_event_id_t type;

/* Create a stream in the place of the previous one, and do not start it. */
static void make_stream(int policy, size_t size, unsigned int nr_rings)
{
	posix_trace_shutdown(stream);
	stream = px_test_create(
		&(struct px_test_stream){.policy = policy, .size = size, .nr_rings = nr_rings});
}

static void use_stream(int policy, size_t size, unsigned int nr_rings)
{
	make_stream(policy, size, nr_rings);
	ok(posix_trace_start(stream));
}

static void setup(void)
{
	ok(posix_trace_eventid_open("status", &type));
}

static void expect_status(int status, int full, int overrun)
{
	px_test_expect_status(stream, status, full, overrun);
}

static int overrun_status(void)
{
	return px_test_status(stream).posix_stream_overrun_status;
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

static uint32_t read_all(void)
{
	struct px_test_event event;
	uint32_t n = 0;

	while (px_test_take(stream, &event))
		n++;
	return n;
}

/* Return how many events a looping stream of this size holds before it overwrites one. */
static uint32_t count_until_overrun(void)
{
	uint32_t n = 0;

	while (overrun_status() == POSIX_TRACE_NO_OVERRUN) {
		px_test_trace(type, n);
		n++;
	}
	return n;
}

/* GETSTAT-1 STATUS-6 STATUS-5 */
START_TEST(get_status_of_new_stream_is_all_zero)
{
	struct posix_trace_status_info status;

	make_stream(0, 0, 0);
	memset(&status, 0xff, sizeof(status));
	ok(posix_trace_get_status(stream, &status));
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(POSIX_TRACE_NO_OVERRUN, 0);
}
END_TEST

/* STATUS-2 STATUS-4 LOOP-3 LOOP-1 COMB-1 GETSTAT-1 */
START_TEST(get_status_of_looping_stream_tells_each_overrun_once)
{
	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	count_until_overrun();
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	for (int i = 0; i < 3; i++) {
		px_test_trace(type, 1); /* this overwrites one more */
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	}
	read_all();
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* STATUS-4 LOOP-3: a full stream has no overrun; the first overwritten event is one. */
START_TEST(get_status_of_looping_stream_is_overrun_by_one_event_too_many)
{
	struct txtrace_loss loss;
	uint32_t n;

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	n = count_until_overrun();
	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	trace_many(n - 1);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	if (_i) {				  /* nothing is lost */
		ck_assert_uint_eq(read_all(), n); /* START and the other events */
		ok(txtrace_get_loss(stream, &loss));
		ck_assert_uint_eq(loss.overwritten, 0);
	} else {
		px_test_trace(type, n);
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
	}
}
END_TEST

/* STATUS-9 LOOP-3: after any number of rounds through the ring */
START_TEST(get_status_of_looping_stream_overwriting_what_was_read_is_no_overrun)
{
	struct px_test_event event;
	struct txtrace_loss loss;

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	ck_assert_uint_eq(read_all(), 1);
	for (uint32_t i = 0; i < 5000; i++) {
		px_test_trace(type, i);
		if (i % 3 == 2) {
			for (int k = 0; k < 3; k++)
				px_test_expect(stream, type, &event);
			ck_assert_int_eq(overrun_status(), POSIX_TRACE_NO_OVERRUN);
		}
	}
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.overwritten, 0);
}
END_TEST

static int result;

/* STATUS-4 COMB-2 UFULL-9 STATUS-2 */
START_TEST(get_status_of_bounded_stream_is_full_first_and_overrun_by_the_next_event)
{
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, (unsigned int)_i);
	fill();
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	for (int i = 0; i < 3; i++) {
		px_test_trace(type, 1);
		expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
		expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	}
	read_all();
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* UFULL-12 STATUS-4 */
START_TEST(get_status_of_full_stream_filtered_event_is_no_overrun)
{
	trace_event_set_t set;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	fill();
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(type, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	px_test_trace(type, 1);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
}
END_TEST

/* STATUS-4 EVENT-2: AMB-8 */
START_TEST(get_status_of_stream_stopped_by_call_event_is_no_overrun)
{
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	ok(posix_trace_stop(stream));
	trace_many(1000);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* STATUS-4 EVENT-12: AMB-8: the stream stays full until it has room again */
START_TEST(get_status_of_full_stream_stopped_by_call_event_is_an_overrun_until_there_is_room)
{
	struct px_test_event event;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	fill();
	ok(posix_trace_stop(stream));
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_trace(type, 1);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
	while (px_test_status(stream).posix_stream_full_status == POSIX_TRACE_FULL)
		ck_assert_uint_ne(px_test_take(stream, &event), 0);
	trace_many(10);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	read_all();
	trace_many(10);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* GETSTAT-5 */
START_TEST(get_status_consumes_and_changes_nothing)
{
	struct px_test_event event;

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	trace_many(3);
	for (int i = 0; i < 100; i++)
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_expect(stream, POSIX_TRACE_START, &event);
	for (uint32_t i = 0; i < 3; i++) {
		px_test_expect(stream, type, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
		px_test_status(stream);
	}
	px_test_expect(stream, 0, &event);
}
END_TEST

static int status_in_child(void *unused)
{
	struct posix_trace_status_info status;

	(void)unused;
	return posix_trace_get_status(stream, &status) == EINVAL ? 0 : 1;
}

/* GETSTAT-3 GETSTAT-4 KIND-1 KIND-3 GEN-10 GEN-11 */
START_TEST(get_status_bad_argument_is_refused_and_resets_nothing)
{
	struct posix_trace_status_info status, before;
	trace_id_t bad[PX_TEST_BAD_TRIDS];

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	trace_many(500);
	px_test_bad_trids(bad);
	memset(&status, 0x5a, sizeof(status));
	before = status;
	for (size_t i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(posix_trace_get_status(bad[i], &status), EINVAL);
	ck_assert_mem_eq(&status, &before, sizeof(status));
	fails(posix_trace_get_status(stream, NULL), EINVAL);
	ck_assert_int_eq(px_test_in_child(status_in_child, NULL), 0);
	ck_assert_int_eq(overrun_status(), POSIX_TRACE_OVERRUN);
}
END_TEST

static void status_cancelled(void)
{
	struct posix_trace_status_info status;

	result = posix_trace_get_status(stream, &status);
}

/* GEN-7 GEN-2 */
START_TEST(get_status_with_cancellation_pending_is_done_in_full)
{
	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	result = -1;
	px_test_with_cancellation_pending(status_cancelled);
	ck_assert_int_eq(result, 0);
	errno = 77;
	px_test_status(stream);
	ck_assert_int_eq(errno, 77);
}
END_TEST

/* Combinations. */

/* COMB-1 COMB-2 STATUS-1: during the whole life of a bounded stream, with status calls between all steps */
START_TEST(get_status_of_bounded_stream_never_runs_full)
{
	static const char data[100];
	struct px_test_event event;
	uint64_t seed = test_seed();

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	for (int i = 0; i < 20000; i++) {
		struct posix_trace_status_info status;

		switch (next_random(&seed) % 16) {
		case 0:
			ok(posix_trace_stop(stream));
			break;
		case 1:
			ok(posix_trace_start(stream));
			break;
		case 2:
			if (next_random(&seed) % 20 == 0)
				ok(posix_trace_clear(stream));
			break;
		case 3:
		case 4:
		case 5:
		case 6:
			px_test_take(stream, &event);
			break;
		default:
			posix_trace_event(type, data, next_random(&seed) % sizeof(data));
		}
		status = px_test_status(stream);
		ck_assert(status.posix_stream_status != POSIX_TRACE_RUNNING ||
			  status.posix_stream_full_status != POSIX_TRACE_FULL);
	}
}
END_TEST

/* COMB-1 COMB-2 STATUS-1: the ring has the event that fills the stream, but its writer has not set the state yet. */
START_TEST(get_status_between_the_last_event_and_the_automatic_stop_is_full)
{
	struct px_test_writer writer;
	struct px_test_event event;
	trace_event_id_t id, last = 0;
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	n = fill();
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, 1);
	trace_many(n - 1);
	expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_hold(&writer, "ring.commit.done", type, n);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	px_test_release(&writer);
	expect_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_stop(stream)); /* no restart */
	while ((id = px_test_take(stream, &event)))
		last = id;
	ck_assert_uint_eq(last, POSIX_TRACE_STOP);
}
END_TEST

/* Threads. */

enum { THREADS = 4 };

static pthread_barrier_t barrier;
static int arg[THREADS];
static bool finished;

static void *ask_in_rounds(void *argument)
{
	int self = (int)(intptr_t)argument;

	for (;;) {
		struct posix_trace_status_info status;

		pthread_barrier_wait(&barrier);
		if (finished)
			return NULL;
		posix_trace_get_status(stream, &status);
		arg[self] = status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
		pthread_barrier_wait(&barrier);
	}
}

/* STATUS-3 STATUS-2 GEN-3: if several threads ask at the same time, one of them gets the loss. */
START_TEST(get_status_by_many_threads_tells_a_loss_to_one)
{
	pthread_t thread[THREADS];

	use_stream(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, 4096, 1);
	trace_many(500);
	ck_assert_int_eq(overrun_status(), POSIX_TRACE_OVERRUN);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, ask_in_rounds, (void *)i);
	for (int round = 0; round < 200; round++) {
		int count = 0;

		if (round % 4)
			px_test_trace(type, 1); /* lost, or it overwrites another event */
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		for (int i = 0; i < THREADS; i++)
			count += arg[i];
		ck_assert_int_eq(count, round % 4 ? 1 : 0);
	}
	finished = true;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}
END_TEST

static bool is_done(void)
{
	return __atomic_load_n(&finished, __ATOMIC_ACQUIRE);
}

static void *write_until_full(void *unused)
{
	uint32_t *count = unused;

	for (*count = 0; *count < 20000 && !is_done(); ++*count)
		px_test_trace(type, *count);
	__atomic_store_n(&finished, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * STATUS-1 COMB-1 COMB-2: a stream that fills up during the call was running with room, or suspended and full.  It had
 * lost an event only if it was full.  It has many rings, so the call takes long.
 */
START_TEST(get_status_while_a_stream_fills_is_one_snapshot)
{
	for (int round = 0; round < 100; round++) {
		struct posix_trace_status_info status;
		pthread_t writer;
		uint32_t count;

		make_stream(POSIX_TRACE_UNTIL_FULL, 1, 256);
		ok(posix_trace_start(stream));
		finished = false;
		pthread_create(&writer, NULL, write_until_full, &count);
		do {
			status = px_test_status(stream);
			if (status.posix_stream_status != POSIX_TRACE_RUNNING)
				__atomic_store_n(&finished, true, __ATOMIC_RELEASE);
			else if (status.posix_stream_full_status == POSIX_TRACE_FULL ||
				 status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN)
				break;
		} while (!is_done());
		pthread_join(writer, NULL);
		if (status.posix_stream_status == POSIX_TRACE_RUNNING) {
			ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
			ck_assert_int_eq(status.posix_stream_overrun_status,
					 POSIX_TRACE_NO_OVERRUN);
		} else {
			ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
		}
	}
}
END_TEST

/* Several streams. */

/* MULTI-1 MODEL-2 MODEL-3 EVENT-4: each stream has its own filter, data limit and room */
START_TEST(event_goes_into_every_stream_by_its_own_rules)
{
	struct px_test_event event;
	trace_id_t full, small, filtered, suspended;
	trace_event_set_t set;

	full = px_test_create(&(struct px_test_stream){
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 4096, .nr_rings = 1});
	small = px_test_create(&(struct px_test_stream){.max_data = 3, .nr_rings = 1});
	filtered = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	suspended = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	stream = full;
	ok(posix_trace_start(full));
	fill();
	make_stream(0, 0, 1);
	full = px_test_create(&(struct px_test_stream){
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 4096, .nr_rings = 1});
	ok(posix_trace_start(full));
	ok(posix_trace_start(small));
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(type, &set));
	ok(posix_trace_set_filter(filtered, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(filtered));
	for (int i = 0; i < 500; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0); /* full is full */
	ok(posix_trace_clear(small));
	ok(posix_trace_start(stream));
	posix_trace_event(type, "abcdef", 6);

	px_test_expect(stream, POSIX_TRACE_START, &event);
	px_test_expect(stream, type, &event);
	ck_assert_uint_eq(event.length, 6);
	ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	px_test_expect(small, type, &event);
	ck_assert_uint_eq(event.length, 3);
	ck_assert_mem_eq(event.data, "abc", 3);
	ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	ck_assert_int_eq(px_test_status(full).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	px_test_expect(suspended, 0, &event);
	for (trace_event_id_t id; (id = px_test_take(filtered, &event));)
		ck_assert_uint_ne(id, type);
}
END_TEST

/* MULTI-5 MODEL-2: an operation on one stream does not affect another one. */
START_TEST(control_of_one_stream_leaves_the_others_alone)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	struct px_test_event event;
	trace_event_set_t all, got;

	use_stream(0, 0, 1);
	ok(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	for (uint32_t i = 0; i < 6; i++) {
		switch (i) {
		case 0:
			ok(posix_trace_start(other));
			break;
		case 1:
			ok(posix_trace_set_filter(other, &all, POSIX_TRACE_SET_EVENTSET));
			break;
		case 2:
			ok(posix_trace_stop(other));
			break;
		case 3:
			ok(posix_trace_clear(other));
			break;
		case 4:
			read_all();
			while (px_test_take(other, &event))
				;
			break;
		default:
			ok(posix_trace_shutdown(other));
		}
		ok(posix_trace_get_filter(stream, &got));
		for (size_t k = 0; k < PX_ARRAY_SIZE(got.__bits); k++)
			ck_assert_uint_eq(got.__bits[k], 0);
		expect_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
		px_test_trace(type, i);
		if (i == 0)
			px_test_expect(stream, POSIX_TRACE_START, &event);
		px_test_expect(stream, type, &event);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
}
END_TEST

/* STATUS-2 MULTI-5: the overrun of one stream, and its reset */
START_TEST(get_status_resets_the_overrun_of_its_stream_alone)
{
	trace_id_t other = px_test_create(&(struct px_test_stream){.size = 4096, .nr_rings = 1});

	use_stream(POSIX_TRACE_LOOP, 4096, 1);
	ok(posix_trace_start(other));
	trace_many(500);
	ck_assert_int_eq(px_test_status(other).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(overrun_status(), POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(px_test_status(other).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* How far apart the times of one event are, in an old stream and in a stream whose creation took long. */
static uint64_t distance_of_times(trace_id_t old)
{
	struct px_test_event event;
	uint64_t first, second;

	use_stream(0, 16 << 20, 4);
	read_all();
	while (px_test_take(old, &event))
		;
	px_test_trace(type, 1);
	px_test_expect(stream, type, &event);
	first = px_test_ns(event.info.posix_timestamp);
	px_test_expect(old, type, &event);
	second = px_test_ns(event.info.posix_timestamp);
	return first < second ? second - first : first - second;
}

/*
 * MULTI-2 INFO-8: each stream reads the clock itself, and all use the same scale.  An interruption between two readings
 * can move them apart, but rarely does.
 */
START_TEST(event_has_about_the_same_time_in_every_stream)
{
	trace_id_t old = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	uint64_t least = UINT64_MAX;

	ok(posix_trace_start(old));
	for (int i = 0; i < 5; i++) {
		uint64_t distance = distance_of_times(old);

		least = distance < least ? distance : least;
	}
	ck_assert_msg(least < 500000, "%llu ns at least", (unsigned long long)least);
}
END_TEST

static TCase *status_cases(void)
{
	TCase *tcase = tcase_create("status");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, get_status_of_new_stream_is_all_zero);
	tcase_add_test(tcase, get_status_of_looping_stream_tells_each_overrun_once);
	tcase_add_loop_test(tcase, get_status_of_looping_stream_is_overrun_by_one_event_too_many, 0,
			    2);
	tcase_add_test(tcase, get_status_of_looping_stream_overwriting_what_was_read_is_no_overrun);
	tcase_add_loop_test(
		tcase, get_status_of_bounded_stream_is_full_first_and_overrun_by_the_next_event, 0,
		2);
	tcase_add_test(tcase, get_status_of_full_stream_filtered_event_is_no_overrun);
	tcase_add_test(tcase, get_status_of_stream_stopped_by_call_event_is_no_overrun);
	tcase_add_test(
		tcase,
		get_status_of_full_stream_stopped_by_call_event_is_an_overrun_until_there_is_room);
	tcase_add_test(tcase, get_status_consumes_and_changes_nothing);
	tcase_add_test(tcase, get_status_bad_argument_is_refused_and_resets_nothing);
	tcase_add_test(tcase, get_status_with_cancellation_pending_is_done_in_full);
	tcase_add_test(tcase, get_status_of_bounded_stream_never_runs_full);
	tcase_add_test(tcase, get_status_between_the_last_event_and_the_automatic_stop_is_full);
	tcase_add_loop_test(tcase, get_status_by_many_threads_tells_a_loss_to_one, 0, 2);
	tcase_add_test(tcase, get_status_while_a_stream_fills_is_one_snapshot);
	return tcase;
}

static TCase *stream_cases(void)
{
	TCase *tcase = tcase_create("several streams");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, event_goes_into_every_stream_by_its_own_rules);
	tcase_add_test(tcase, control_of_one_stream_leaves_the_others_alone);
	tcase_add_test(tcase, get_status_resets_the_overrun_of_its_stream_alone);
	tcase_add_test(tcase, event_has_about_the_same_time_in_every_stream);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("get_status");

	suite_add_tcase(suite, status_cases());
	suite_add_tcase(suite, stream_cases());
	return run_suite(suite);
}
