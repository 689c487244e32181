/* SPDX-License-Identifier: MIT */
/*
 * From a stream into its log: flushes by calls and by the library's thread, what happens meanwhile, what happens if the
 * log is full or cannot be written, and how it ends.
 */
#include "support/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/first_thread.h"
#include "support/log_checker.h"

static trace_event_id_t type;
static int file;
static trace_id_t stream, log_id;
static struct px_test_event seen;
static struct px_test_log_facts facts;
static uint32_t next_number;

static void setup(void)
{
	ok(posix_trace_eventid_open("flushed", &type));
	file = px_test_file();
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

/* The stream of most tests flushes when the test calls posix_trace_flush(). */
static void use_stream(int policy, size_t size, int log_policy, size_t log_size)
{
	stream = px_test_create_log(&(struct px_test_stream){.policy = policy,
							     .size = size,
							     .nr_rings = 1,
							     .log_policy = log_policy,
							     .log_size = log_size},
				    file);
}

static void use_plain_stream(void)
{
	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 18, POSIX_TRACE_LOOP, 1 << 20);
	ok(posix_trace_start(stream));
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

static int status_of_flush(void)
{
	return px_test_status(stream).posix_stream_flush_status;
}

/* Read the present content of the file. */
static uint64_t nr_logged(void)
{
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	return facts.nr_events;
}

static void open_log(unsigned int look)
{
	px_test_check_log(file, look, &facts);
	log_id = px_test_open(file);
}

static void finish(void)
{
	ok(posix_trace_shutdown(stream));
	open_log(0);
}

static void expect(trace_event_id_t id)
{
	px_test_expect_recorded(log_id, id, &seen);
}

static void expect_numbers(uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		expect(type);
		ck_assert_uint_eq(px_test_number(&seen), from);
	}
}

static void expect_stop(int automatic)
{
	int found;

	expect(POSIX_TRACE_STOP);
	ck_assert_uint_eq(seen.length, sizeof(found));
	memcpy(&found, seen.data, sizeof(found));
	ck_assert_int_eq(found, automatic);
}

static void expect_end(void)
{
	expect(0);
	ok(posix_trace_close(log_id));
}

/* What must hold for each complete log. */
struct tale {
	uint32_t nr_numbers, nr_missing, nr_gaps, nr_flushes, nr_stops, nr_errors;
	bool ends_with_stop;
};

/*
 * Times do not fall; windows end; nothing is recorded between STOP and START; flushes do not overlap; between OVERFLOW
 * and RESUME there are only events of flushes, and only there numbers are missing.
 */
static struct tale read_tale(uint32_t first_number)
{
	bool runs = false, flushes = false, in_gap = false, may_miss = false;
	struct tale tale = {0};
	trace_event_id_t id;
	uint64_t time = 0;

	while ((id = px_test_take_recorded(log_id, &seen)) != 0) {
		uint64_t now = px_test_ns(seen.info.posix_timestamp);

		ck_assert_uint_ge(now, time);
		time = now;
		if (in_gap)
			ck_assert(id == POSIX_TRACE_RESUME || id == POSIX_TRACE_FLUSH_START ||
				  id == POSIX_TRACE_FLUSH_STOP);
		tale.ends_with_stop = id == POSIX_TRACE_STOP;
		if (id == POSIX_TRACE_START) {
			ck_assert(!runs);
			runs = true;
		} else if (id == POSIX_TRACE_STOP) {
			ck_assert(runs);
			runs = false;
			tale.nr_stops++;
		} else if (id == POSIX_TRACE_OVERFLOW) {
			in_gap = true; /* after START if a thread dropped an event while the stream started */
			tale.nr_gaps++;
		} else if (id == POSIX_TRACE_RESUME) {
			ck_assert(in_gap);
			in_gap = false;
			may_miss = true;
		} else if (id == POSIX_TRACE_FLUSH_START) {
			ck_assert(!flushes);
			flushes = true;
			tale.nr_flushes++;
		} else if (id == POSIX_TRACE_FLUSH_STOP) {
			ck_assert(flushes);
			flushes = false;
		} else if (id == POSIX_TRACE_ERROR) {
			tale.nr_errors++;
		} else {
			uint32_t number = px_test_number(&seen);

			ck_assert_uint_eq(id, type);
			ck_assert(runs);
			ck_assert_uint_ge(number, first_number);
			if (number != first_number)
				ck_assert(may_miss);
			may_miss = false;
			tale.nr_missing += number - first_number;
			first_number = number + 1;
			tale.nr_numbers++;
		}
	}
	return tale;
}

/* FLUSH-2 */
START_TEST(flush_stream_without_log_gives_einval)
{
	const struct px_test_stream wanted = {.nr_rings = 1};
	trace_id_t bad[PX_TEST_BAD_TRIDS], active = px_test_create(&wanted);

	px_test_bad_trids(bad);
	for (int i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(posix_trace_flush(bad[i]), EINVAL);
	fails(posix_trace_flush(active), EINVAL);
	use_plain_stream();
	finish();
	fails(posix_trace_flush(log_id), EINVAL);
	fails(posix_trace_flush(stream), EINVAL);
}
END_TEST

/* FLUSH-1 FLUSH-3 FLOP-1 FLOP-5 FLOP-7 GEN-2 */
START_TEST(flush_works_in_every_state_and_is_marked_while_running)
{
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_flush(stream));
	ck_assert_uint_eq(nr_logged(), 0);
	ok(posix_trace_start(stream));
	trace_next();
	errno = 1234;
	ok(posix_trace_flush(stream));
	ck_assert_int_eq(errno, 1234);
	ck_assert_uint_eq(nr_logged(), 3); /* FLOP-6: FLUSH_STOP comes with the next flush */
	ok(posix_trace_flush(stream));
	ck_assert_uint_eq(nr_logged(), 5);
	trace_next();
	ok(posix_trace_stop(stream));
	ok(posix_trace_flush(stream));
	ck_assert_uint_eq(nr_logged(), 8);
	ok(posix_trace_flush(stream));
	ck_assert_uint_eq(nr_logged(), 8);
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, 1);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(1, 2);
	expect_stop(0);
	expect_end();
}
END_TEST

static void *return_address;

__attribute__((noinline)) static void flush_here(void)
{
	ok(posix_trace_flush(stream));
	return_address = __builtin_return_address(0);
}

/* INFO-3 INFO-4 INFO-9: the events of a flush by a call have the identity of the caller. */
START_TEST(flush_events_tell_who_called)
{
	use_plain_stream();
	flush_here();
	finish();
	expect(POSIX_TRACE_START);
	expect(POSIX_TRACE_FLUSH_START);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	ck_assert(pthread_equal(seen.info.posix_thread_id, pthread_self()));
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
	expect(POSIX_TRACE_FLUSH_STOP);
	ck_assert_ptr_nonnull(seen.info.posix_prog_address);
}
END_TEST

/* SYSEV-9: the filter also applies to the two events of a flush. */
START_TEST(flush_pair_in_the_filter_is_not_recorded)
{
	trace_event_set_t set;

	use_plain_stream();
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(_i & 1 ? POSIX_TRACE_FLUSH_START : POSIX_TRACE_START, &set));
	ok(posix_trace_eventset_add(_i & 2 ? POSIX_TRACE_FLUSH_STOP : POSIX_TRACE_START, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	trace_next();
	ok(posix_trace_flush(stream));
	trace_next();
	finish();
	expect(POSIX_TRACE_START);
	expect(POSIX_TRACE_FILTER);
	expect_numbers(0, 1);
	if (!(_i & 1))
		expect(POSIX_TRACE_FLUSH_START);
	if (!(_i & 2))
		expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(1, 2);
	expect_stop(0);
	expect_end();
}
END_TEST

/* Record until the stream is full.  Return the number of events. */
static uint32_t fill(void)
{
	uint32_t first = next_number;

	while (px_test_status(stream).posix_stream_status == POSIX_TRACE_RUNNING)
		trace_next();
	return next_number - first;
}

/* UFULL-4 UFULL-5 UFULL-6 UFULL-10 UFULL-11 FLUSH-11 FLOP-5 */
START_TEST(flush_of_a_full_stream_starts_it_again)
{
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_eq(nr_logged(), 0);
	ok(posix_trace_flush(stream));
	ck_assert_int_eq(px_test_status(stream).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_next();
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(n, n + 1);
	expect_stop(0);
	expect_end();
}
END_TEST

/* UFULL-8 FLUSHP-6 AMB-15: a loss is reported as in any other stream. */
static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return px_test_ns(now);
}

/* SYSEV-2 SYSEV-3: OVERFLOW is at its time, before FLUSH_START, and RESUME is where the stream runs again. */
START_TEST(flush_of_a_full_stream_marks_what_was_lost)
{
	uint64_t before_ns, stop_ns, start_ns;
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	trace_many(3); /* lost */
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	usleep(2000);
	before_ns = realtime_ns() - 1000000;
	ok(posix_trace_flush(stream));
	trace_next();
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	stop_ns = px_test_ns(seen.info.posix_timestamp);
	expect(POSIX_TRACE_OVERFLOW);
	ck_assert_uint_gt(px_test_ns(seen.info.posix_timestamp), stop_ns);
	ck_assert_uint_lt(px_test_ns(seen.info.posix_timestamp), before_ns);
	expect(POSIX_TRACE_FLUSH_START);
	ck_assert_uint_gt(px_test_ns(seen.info.posix_timestamp), before_ns);
	expect(POSIX_TRACE_RESUME);
	start_ns = px_test_ns(seen.info.posix_timestamp);
	expect(POSIX_TRACE_START);
	ck_assert_uint_eq(px_test_ns(seen.info.posix_timestamp), start_ns);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(n + 3, n + 4);
	expect_stop(0);
	expect_end();
}
END_TEST

/* UFULL-8: the loss after the last event, also if a flush comes before the end, or if OVERFLOW is filtered */
START_TEST(flush_of_a_full_stream_that_ends_marks_its_loss)
{
	bool flushes = _i == 1, filters = _i == 2;
	trace_event_set_t set;
	uint64_t stop_ns;
	uint32_t n;

	ok(posix_trace_eventset_empty(&set));
	if (filters)
		ok(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set));
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	n = fill();
	usleep(1000);
	trace_many(3); /* lost */
	ok(posix_trace_stop(stream));
	if (flushes)
		ok(posix_trace_flush(stream));
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	stop_ns = px_test_ns(seen.info.posix_timestamp);
	if (!filters) {
		expect(POSIX_TRACE_OVERFLOW);
		ck_assert_uint_gt(px_test_ns(seen.info.posix_timestamp), stop_ns);
		ck_assert_uint_eq(seen.length, 0);
	}
	expect_end();
}
END_TEST

/* UFULL-8: this gap has an end if the stream starts again. */
START_TEST(flush_of_a_full_stream_that_starts_again_ends_its_gap)
{
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	trace_many(3); /* lost */
	ok(posix_trace_stop(stream));
	ok(posix_trace_flush(stream));
	ok(posix_trace_flush(stream));
	ok(posix_trace_start(stream));
	trace_next();
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	expect(POSIX_TRACE_OVERFLOW);
	expect(POSIX_TRACE_RESUME);
	expect(POSIX_TRACE_START);
	expect_numbers(n + 3, n + 4);
	expect_stop(0);
	expect_end();
}
END_TEST

/* SYSEV-9: the same events with one of them in the filter: 0 OVERFLOW, 1 RESUME, 2 FLUSH_START, 3 START */
START_TEST(flush_of_a_full_stream_marks_its_loss_without_filtered_events)
{
	static const trace_event_id_t all[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_FLUSH_START,
					       POSIX_TRACE_RESUME, POSIX_TRACE_START};
	static const trace_event_id_t filtered[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME,
						    POSIX_TRACE_FLUSH_START, POSIX_TRACE_START};
	trace_event_set_t set;
	uint32_t n;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(filtered[_i], &set));
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	ok(posix_trace_start(stream));
	n = fill();
	trace_many(3); /* lost */
	ok(posix_trace_flush(stream));
	trace_next();
	finish();
	if (filtered[_i] != POSIX_TRACE_START)
		expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	for (int i = 0; i < 4; i++)
		if (all[i] != filtered[_i] &&
		    (filtered[_i] != POSIX_TRACE_START || all[i] != POSIX_TRACE_RESUME))
			expect(all[i]);
	if (filtered[_i] == POSIX_TRACE_START)
		expect(POSIX_TRACE_RESUME); /* before the next event, which is FLUSH_STOP */
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(n + 3, n + 4);
	expect_stop(0);
	expect_end();
}
END_TEST

/* AMB-3 CLEAR-10: a stream that a call stopped while it was full stays stopped. */
START_TEST(flush_of_a_full_stream_that_was_stopped_leaves_it_stopped)
{
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	ok(posix_trace_stop(stream));
	ok(posix_trace_flush(stream));
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
	trace_next();
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	expect_end();
}
END_TEST

/* A thread that flushes and stops before it writes. */
static struct {
	pthread_t thread;
	sem_t arrived, released;
	const char *point;
	int nr_passes; /* number of passages of the point before it stops */
	int error;
	bool was_held;
} held;

static __thread bool is_held_thread;

static void hold_at_point(const char *name)
{
	if (!is_held_thread || held.was_held || strcmp(name, held.point) != 0 ||
	    held.nr_passes-- > 0)
		return;
	held.was_held = true;
	sem_post(&held.arrived);
	while (sem_wait(&held.released) != 0)
		;
}

static void *flush_held(void *unused)
{
	is_held_thread = true;
	held.error = posix_trace_flush(stream);
	if (!held.was_held)
		sem_post(&held.arrived);
	return unused;
}

static void hold_call(void *(*call)(void *unused), const char *point, int nr_passes)
{
	held.point = point;
	held.nr_passes = nr_passes;
	held.was_held = false;
	sem_init(&held.arrived, 0, 0);
	sem_init(&held.released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, hold_at_point, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_create(&held.thread, NULL, call, NULL), 0);
	while (sem_wait(&held.arrived) != 0)
		;
	ck_assert(held.was_held);
}

static void hold_flush(const char *point, int nr_passes)
{
	hold_call(flush_held, point, nr_passes);
}

static void let_flush_go(void)
{
	sem_post(&held.released);
	pthread_join(held.thread, NULL);
}

/* FLOP-2 FLOP-3 FLOP-6: while a flush writes, all other calls of the library work. */
START_TEST(flush_in_progress_is_told_and_holds_nobody_up)
{
	use_plain_stream();
	trace_many(10);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_NOT_FLUSHING);
	hold_flush("log.write.begin", 0);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_FLUSHING);
	trace_many(100);
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	trace_many(100);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_FLUSHING);
	let_flush_go();
	ok(held.error);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_NOT_FLUSHING);
	ck_assert_uint_eq(nr_logged(), 12); /* FLOP-6: up to FLUSH_START */
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, 10);
	expect(POSIX_TRACE_FLUSH_START);
	expect_numbers(10, 110);
	expect_stop(0);
	expect(POSIX_TRACE_START);
	expect_numbers(110, 210);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_stop(0);
	expect_end();
}
END_TEST

static uint32_t raised_flag(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	uint32_t flag = px_read_once(&inside->view.segment->waiting);

	px_handle_unlock(stream);
	return flag;
}

/* Each event without room would wake the stream's thread, which would have nothing to do. */
START_TEST(flush_by_another_thread_lets_the_streams_own_sleep)
{
	use_stream(POSIX_TRACE_FLUSH, 4096, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	hold_flush("log.write.begin", 0);
	trace_many(1000);
	for (int i = 0; raised_flag() != PX_WAITING_NOBODY; i++) {
		ck_assert_int_lt(i, 1000); /* it may have slept before */
		trace_many(10);
		sleep_ms(1);
	}
	for (int i = 0; i < 100; i++) {
		sleep_ms(1);
		ck_assert_uint_eq(raised_flag(), PX_WAITING_NOBODY);
		trace_many(10);
	}
	let_flush_go();
	ok(held.error);
	finish();
}
END_TEST

static void *wait_for_the_flush(void *unused)
{
	while (status_of_flush() == POSIX_TRACE_FLUSHING)
		sched_yield();
	trace_next();
	return unused;
}

/* FLOP-9 */
START_TEST(flush_stop_is_recorded_before_the_status_says_so)
{
	pthread_t thread;

	use_plain_stream();
	hold_flush("log.write.begin", 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_the_flush, NULL), 0);
	let_flush_go();
	pthread_join(thread, NULL);
	finish();
	expect(POSIX_TRACE_START);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(0, 1);
}
END_TEST

static pid_t other_tid;
static int other_error;
static sem_t other_runs;

static void *clear_in_thread(void *unused)
{
	__atomic_store_n(&other_tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	sem_post(&other_runs);
	other_error = posix_trace_clear(stream);
	return unused;
}

/* CLEAR-12 */
START_TEST(clear_waits_for_the_flush_in_progress)
{
	pthread_t thread;

	use_plain_stream();
	trace_many(10);
	hold_flush("log.write.begin", 0);
	sem_init(&other_runs, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, clear_in_thread, NULL), 0);
	while (sem_wait(&other_runs) != 0)
		;
	px_test_wait_asleep(other_tid);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_FLUSHING);
	let_flush_go();
	pthread_join(thread, NULL);
	ok(held.error);
	ok(other_error);
	ck_assert_uint_eq(nr_logged(), 0);
	next_number = 100;
	trace_next();
	finish();
	expect_numbers(100, 101);
	expect_stop(0);
	expect_end();
}
END_TEST

static void *clear_held(void *unused)
{
	is_held_thread = true;
	held.error = posix_trace_clear(stream);
	return unused;
}

/* CLEAR-12: while clear empties the file, all other calls of the library work. */
START_TEST(clear_in_progress_is_told_and_holds_nobody_up)
{
	use_plain_stream();
	trace_many(10);
	ok(posix_trace_flush(stream));
	hold_call(clear_held, "log.write.before", 0);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_FLUSHING);
	ok(posix_trace_stop(stream));
	ok(posix_trace_start(stream));
	trace_many(10);
	let_flush_go();
	ok(held.error);
	ck_assert_int_eq(status_of_flush(), POSIX_TRACE_NOT_FLUSHING);
	ck_assert_uint_eq(nr_logged(), 0);
	finish();
	expect_stop(0);
	expect(POSIX_TRACE_START);
	expect_numbers(10, 20);
	expect_stop(0);
	expect_end();
}
END_TEST

static void *shut_down_in_thread(void *unused)
{
	sem_post(&other_runs);
	other_error = posix_trace_shutdown(stream);
	return unused;
}

static bool is_open(void)
{
	struct px_stream *inside = px_handle_lock(stream);

	if (inside)
		px_handle_unlock(stream);
	return inside != NULL;
}

/* SHUT-2 SHUT-3 UNREAD-1: at whichever write the flush is, nothing is lost. */
START_TEST(shutdown_during_a_flush_loses_nothing)
{
	pthread_t thread;

	use_stream(POSIX_TRACE_UNTIL_FULL, 80 * 16384, POSIX_TRACE_UNTIL_FULL, 8 << 20);
	ok(posix_trace_start(stream));
	trace_many(15000);
	hold_flush("log.write.begin", _i);
	sem_init(&other_runs, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, shut_down_in_thread, NULL), 0);
	while (is_open())
		sched_yield();
	let_flush_go();
	pthread_join(thread, NULL);
	fails(held.error, EINVAL);
	ok(other_error);
	open_log(0);
	expect(POSIX_TRACE_START);
	expect_numbers(0, 15000);
	expect(POSIX_TRACE_FLUSH_START);
	expect_stop(0);
	expect_end();
}
END_TEST

/* LOGP-3 SHUT-2: if the log becomes full at such a moment, it still gets its STOP. */
START_TEST(shutdown_during_a_flush_into_a_full_log_ends_it_with_stop)
{
	pthread_t thread;
	struct tale tale;

	use_stream(POSIX_TRACE_UNTIL_FULL, 80 * 16384, POSIX_TRACE_UNTIL_FULL, 80 * 4000);
	ok(posix_trace_start(stream));
	trace_many(15000);
	if (_i % 2)
		ok(posix_trace_stop(stream));
	hold_flush("log.write.begin", _i / 2);
	sem_init(&other_runs, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, shut_down_in_thread, NULL), 0);
	while (is_open())
		sched_yield();
	let_flush_go();
	pthread_join(thread, NULL);
	fails(held.error, EINVAL);
	ok(other_error);
	open_log(0);
	tale = read_tale(0);
	ck_assert(tale.ends_with_stop);
	ck_assert_uint_eq(tale.nr_missing, 0);
	ck_assert_uint_gt(tale.nr_numbers, 3900);
	ck_assert_int_eq(px_test_status(log_id).posix_log_full_status, POSIX_TRACE_FULL);
}
END_TEST

#define NR_FLUSHERS 3
#define FLUSHES_EACH 40

static int nr_failed, nr_flushing;

static void *flush_many(void *unused)
{
	for (int i = 0; i < FLUSHES_EACH; i++)
		if (posix_trace_flush(stream) != 0)
			__atomic_fetch_add(&nr_failed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&nr_flushing, 1, __ATOMIC_RELEASE);
	return unused;
}

/* FLOP-8 FLOP-2 GEN-3 */
START_TEST(flush_from_many_threads_is_one_after_the_other)
{
	pthread_t thread[NR_FLUSHERS];
	struct tale tale;

	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 20, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	nr_flushing = NR_FLUSHERS;
	for (int i = 0; i < NR_FLUSHERS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, flush_many, NULL), 0);
	while (__atomic_load_n(&nr_flushing, __ATOMIC_ACQUIRE) > 0) {
		trace_many(10);
		sched_yield();
	}
	for (int i = 0; i < NR_FLUSHERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(nr_failed, 0);
	finish();
	tale = read_tale(0);
	ck_assert_uint_eq(tale.nr_flushes, NR_FLUSHERS * FLUSHES_EACH);
	ck_assert_uint_le(tale.nr_numbers + tale.nr_missing,
			  next_number); /* the rest is lost, too */
	/* There may be a gap after the last number. */
	ck_assert(tale.nr_missing == 0 || tale.nr_gaps > 0);
	ck_assert(tale.nr_gaps == 0 || tale.nr_numbers < next_number);
}
END_TEST

/* Return true if the stream is above its high-water mark: then the writer waits for the library's thread. */
static bool is_high(void)
{
	struct px_stream *inside = px_handle_lock(stream);
	bool is_above = px_view_is_high(&inside->view, NULL);

	px_handle_unlock(stream);
	return is_above;
}

/* FLUSHP-1 FLUSHP-5 MODEL-3: at a rate that the log can sustain, nothing is lost, and the stream never stops. */
START_TEST(flush_policy_loses_nothing_of_a_paced_writer)
{
	struct txtrace_loss loss;
	struct tale tale;

	use_stream(POSIX_TRACE_FLUSH, 16384, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 20000; i++) {
		while (is_high())
			sched_yield();
		trace_next();
	}
	ok(txtrace_get_loss(stream, &loss));
	ck_assert_uint_eq(loss.dropped + loss.overwritten + loss.abandoned, 0);
	ck_assert_int_eq(px_test_status(stream).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
	finish();
	tale = read_tale(0);
	ck_assert_uint_eq(tale.nr_numbers, 20000);
	ck_assert_uint_eq(tale.nr_missing, 0);
	ck_assert_uint_eq(tale.nr_stops, 1);
	ck_assert_uint_gt(tale.nr_flushes, 10);
}
END_TEST

/*
 * FLUSHP-2 FLUSHP-4 FLUSHP-6 FLUSHP-7 COMB-1: if the writer is faster, the stream stops and starts, and reports each
 * loss.
 */
START_TEST(flush_policy_of_a_hasty_writer_tells_every_loss)
{
	bool was_overrun = false;
	struct txtrace_loss loss;
	struct tale tale;

	use_stream(POSIX_TRACE_FLUSH, 4096, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	for (int round = 0; round < 50; round++) {
		struct posix_trace_status_info status;

		trace_many(200);
		status = px_test_status(stream);
		was_overrun |= status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
		ck_assert(status.posix_stream_full_status == POSIX_TRACE_NOT_FULL ||
			  status.posix_stream_status == POSIX_TRACE_SUSPENDED);
		while (px_test_status(stream).posix_stream_status != POSIX_TRACE_RUNNING)
			sched_yield();
		trace_next();
	}
	ok(txtrace_get_loss(stream, &loss));
	finish();
	tale = read_tale(0);
	ck_assert_uint_eq(tale.nr_numbers + tale.nr_missing, next_number);
	ck_assert_uint_eq(tale.nr_missing, loss.dropped);
	ck_assert_uint_gt(tale.nr_gaps, 0);
	ck_assert(was_overrun);
	ck_assert_int_eq(px_test_status(log_id).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert(tale.ends_with_stop);
}
END_TEST

#define HASTY_EVENTS 400000

static void *trace_hastily(void *argument)
{
	for (uint32_t i = 0; i < HASTY_EVENTS / 2; i++)
		px_test_trace(type, i);
	return argument;
}

/* Two threads record as fast as they can: into one ring, into two rings, and into the rings of the CPUs. */
START_TEST(flush_of_hasty_writers_has_times_that_do_not_fall)
{
	static const int log_policies[] = {POSIX_TRACE_APPEND, POSIX_TRACE_LOOP,
					   POSIX_TRACE_UNTIL_FULL};
	static const int policies[] = {POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
	int log_policy = log_policies[_i % 3], policy = policies[_i / 3 % 3];
	uint64_t newest_ns = 0, nr_events = 0;
	pthread_t thread[2];
	struct txtrace_loss loss;
	trace_event_id_t id;

	stream = px_test_create_log(&(struct px_test_stream){.policy = policy,
							     .size = 65536,
							     .nr_rings = _i / 9,
							     .log_policy = log_policy,
							     .log_size = 1 << 20},
				    file);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_hastily, NULL), 0);
	for (int i = 0; i < 20 && policy != POSIX_TRACE_FLUSH; i++) {
		usleep(500);
		ok(posix_trace_flush(stream));
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
	finish();
	while ((id = px_test_take_recorded(log_id, &seen)) != 0) {
		uint64_t ns = px_test_ns(seen.info.posix_timestamp);

		ck_assert_msg(ns >= newest_ns, "event of type %lu is %llu ns too old",
			      (unsigned long)id, (unsigned long long)(newest_ns - ns));
		newest_ns = ns;
		nr_events += id == type;
	}
	ok(txtrace_get_loss(log_id, &loss));
	if (log_policy == POSIX_TRACE_APPEND && policy != POSIX_TRACE_LOOP)
		ck_assert_uint_eq(nr_events + loss.overwritten + loss.dropped + loss.abandoned,
				  HASTY_EVENTS);
}
END_TEST

/* Let this thread write to another ring than ring 0, of two.  Return false if the machine has no such CPU. */
static bool leave_first_ring(void)
{
	cpu_set_t allowed, one;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 1; cpu < CPU_SETSIZE; cpu += 2) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	return false;
}

/*
 * EVENT-11: a writer stops between the counter and the reservation, and a flush passes.  The event comes after the
 * flush, so the writer takes a later counter: the order of the log is the order of times.
 */
START_TEST(flush_while_an_event_is_recorded_gives_it_a_later_time)
{
	const struct px_test_stream wanted = {.policy = POSIX_TRACE_UNTIL_FULL, .nr_rings = 2};
	struct px_test_writer writer;
	struct timespec ended;

	if (!leave_first_ring()) {
		px_test_skip("one CPU, so all events go to one ring");
		return;
	}
	stream = px_test_create_log(&wanted, file);
	ok(posix_trace_start(stream));
	px_test_hold(&writer, "ring.reserve.stamped", type, 0);
	ok(posix_trace_flush(stream));
	px_test_release(&writer);
	finish();
	expect(POSIX_TRACE_START);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	ended = seen.info.posix_timestamp;
	expect_numbers(0, 1);
	ck_assert_uint_ge(px_test_ns(seen.info.posix_timestamp), px_test_ns(ended));
	expect_stop(0);
	expect_end();
}
END_TEST

/* FLUSHP-1: an event reaches the log without any further call. */
START_TEST(flush_policy_flushes_also_what_is_little)
{
	use_stream(POSIX_TRACE_FLUSH, 65536, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	nr_logged();
	trace_next();
	do { /* the log is being written, so there is no time to check the rest */
		sleep_ms(10);
		ck_assert_int_eq(pread(file, &facts.commit, sizeof(facts.commit),
				       (off_t)facts.layout.commit),
				 sizeof(facts.commit));
	} while (facts.commit.nr_events < 2);
	finish();
}
END_TEST

/* Return the number of the library's thread, or 0. */
static pid_t find_flusher(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t found = 0;

	ck_assert_ptr_nonnull(tasks);
	while ((entry = readdir(tasks))) {
		char path[300], name[32] = "";
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(path, "r");
		if (!comm)
			continue;
		if (fgets(name, sizeof(name), comm) && strcmp(name, "posixtrace\n") == 0)
			found = (pid_t)atoi(entry->d_name);
		fclose(comm);
	}
	closedir(tasks);
	return found;
}

/* struct sched_attr of the kernel. */
struct turns {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* The kernel lets a thread with short turns wait less for its CPU. */
START_TEST(flush_policy_has_a_thread_with_short_turns)
{
	struct turns own, flusher = {0};

	ck_assert_int_eq(syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0), 0);
	if (own.policy != SCHED_OTHER || own.runtime == 0) {
		px_test_skip("before Linux 6.12, no thread can ask for short turns");
		return;
	}
	use_stream(POSIX_TRACE_FLUSH, 65536, POSIX_TRACE_LOOP, 0);
	for (int i = 0; i < 1000 && flusher.runtime != 200000; i++) {
		sleep_ms(10);
		if (find_flusher() != 0)
			ck_assert_int_eq(syscall(SYS_sched_getattr, find_flusher(), &flusher, sizeof(flusher), 0), 0);
	}
	ck_assert_uint_eq(flusher.runtime, 200000);
	ck_assert_int_eq(flusher.nice, own.nice);
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* Return the signals that a thread blocks, as the kernel shows them. */
static unsigned long long blocked_by(pid_t tid)
{
	unsigned long long blocked = 0;
	char path[64], line[256];
	FILE *file_of_thread;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	file_of_thread = fopen(path, "r");
	ck_assert_ptr_nonnull(file_of_thread);
	while (fgets(line, sizeof(line), file_of_thread))
		sscanf(line, "SigBlk: %llx", &blocked);
	fclose(file_of_thread);
	return blocked;
}

/* Return the same of a thread that blocks all signals.  An emulator lets through those that it needs itself. */
static unsigned long long blocked_at_most(void)
{
	unsigned long long blocked;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	blocked = blocked_by(gettid());
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	ck_assert(blocked >> (SIGTERM - 1) & 1);
	return blocked;
}

/* SIG-4 FLUSHP-7 UFULL-11 SHUT-3 */
START_TEST(flush_policy_has_a_thread_that_takes_no_signals)
{
	pid_t tid;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ck_assert_int_eq(find_flusher(), 0);
	ok(posix_trace_shutdown(stream));
	use_stream(POSIX_TRACE_FLUSH, 4096, POSIX_TRACE_LOOP, 0);
	while ((tid = find_flusher()) == 0) /* it names itself */
		sched_yield();
	for (int signal = 1; signal < 32; signal++)
		if (blocked_at_most() >> (signal - 1) & 1)
			ck_assert_msg(blocked_by(tid) >> (signal - 1) & 1, "signal %d", signal);
	finish();
	ck_assert_int_eq(find_flusher(), 0);
}
END_TEST

/* Errors of writing.  While the file size is limited, the test makes no Check assertions. */

static volatile sig_atomic_t nr_signals;

static void count_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

static int flush_limited(uint64_t limit)
{
	int error;

	px_test_limit_files(limit);
	error = posix_trace_flush(stream);
	px_test_unlimit_files();
	return error;
}

static void expect_log_status(int flush_error, int log_overrun, int log_full)
{
	struct posix_trace_status_info status = px_test_status(stream);

	ck_assert_int_eq(status.posix_stream_flush_error, flush_error);
	ck_assert_int_eq(status.posix_log_overrun_status, log_overrun);
	ck_assert_int_eq(status.posix_log_full_status, log_full);
}

/* FLUSH-5 FLUSH-8 FLUSH-10 LOGP-8 STATUS-2 STATUS-8 MODEL-3 */
START_TEST(flush_beyond_the_file_size_limit_gives_efbig_once_and_goes_on)
{
	signal(SIGXFSZ, count_signal);
	use_plain_stream();
	trace_many(5);
	ok(posix_trace_flush(stream));
	px_test_check_log(file, PX_TEST_LOG_IS_OPEN, &facts);
	trace_many(5);
	fails(flush_limited(facts.layout.frames + facts.commit.end_frame), EFBIG);
	ck_assert_int_eq(nr_signals, 0);
	fails(flush_limited(0), EFBIG);
	expect_log_status(EFBIG, POSIX_TRACE_OVERRUN, POSIX_TRACE_NOT_FULL);
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_many(5);
	ok(posix_trace_flush(stream));
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(nr_signals, 0);
	ok(posix_trace_shutdown(stream));
	open_log(0);
	expect(POSIX_TRACE_START);
	expect_numbers(0, 5);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP); /* of the second round, which lost all other events */
	expect_numbers(10, 15);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_stop(0);
	expect(0);
	ck_assert_int_eq(px_test_status(log_id).posix_stream_flush_error, EFBIG);
	ck_assert_int_eq(px_test_status(log_id).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_uint_eq(facts.commit.nr_lost, 9); /* FLUSH_STOP, 5 events, and 2 pairs except their last event */
}
END_TEST

/* Expect the mark of events that the log lacks: this event, with the data int 1. */
static void expect_hole(trace_event_id_t id)
{
	int is_of_log = 0;

	expect(id);
	ck_assert_uint_eq(seen.length, sizeof(is_of_log));
	memcpy(&is_of_log, seen.data, sizeof(is_of_log));
	ck_assert_int_eq(is_of_log, 1);
}

/* The log has 0 to 4 and 10 to 14, and between them a hole, which begins and ends with the events around it. */
static void expect_around_hole(void)
{
	struct timespec before;

	expect(POSIX_TRACE_START);
	expect_numbers(0, 5);
	expect(POSIX_TRACE_FLUSH_START);
	before = seen.info.posix_timestamp;
	expect_hole(POSIX_TRACE_OVERFLOW);
	ck_assert(px_test_ns(seen.info.posix_timestamp) == px_test_ns(before));
	expect_hole(POSIX_TRACE_RESUME);
	before = seen.info.posix_timestamp;
	expect(POSIX_TRACE_FLUSH_STOP); /* of the flush that failed */
	ck_assert(px_test_ns(seen.info.posix_timestamp) == px_test_ns(before));
	expect_numbers(10, 15);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_stop(0);
	expect(0);
}

/*
 * LOGP-7 LOGP-8: posix_trace_open() tells of events that could not be written in the status only; txtrace_open() also
 * tells where they are missing, and how many.  A copy keeps both, and the cause, and so does a second reading.
 */
START_TEST(flush_that_failed_leaves_a_hole_that_the_extensions_tell)
{
	static const int policies[] = {POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
	struct posix_trace_status_info status;
	struct txtrace_file_info info;
	int copy = px_test_file();

	signal(SIGXFSZ, count_signal);
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, policies[_i], policies[_i] == POSIX_TRACE_APPEND ? 0 : 1 << 20);
	ok(posix_trace_start(stream));
	trace_many(5);
	ok(posix_trace_flush(stream));
	trace_many(5);
	fails(flush_limited(0), EFBIG);
	trace_many(5);
	ok(posix_trace_flush(stream));
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, 5);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP); /* of the flush that failed */
	expect_numbers(10, 15);
	ok(posix_trace_close(log_id));
	ok(txtrace_open(file, 0, &log_id));
	expect_around_hole();
	ok(posix_trace_rewind(log_id));
	expect_around_hole();
	ok(txtrace_get_file_info(log_id, &info));
	ck_assert_int_eq(info.nr_log_lost, 7); /* FLUSH_STOP, 5 events and FLUSH_START */
	ck_assert_uint_eq((uint64_t)info.nr_log_lost, facts.commit.nr_lost);
	ok(posix_trace_rewind(log_id));
	ok(txtrace_copy_log(log_id, copy));
	ok(posix_trace_close(log_id));
	ok(txtrace_open(copy, 0, &log_id));
	expect_around_hole();
	ok(txtrace_get_file_info(log_id, &info));
	ck_assert_int_eq(info.nr_log_lost, 7);
	ok(posix_trace_get_status(log_id, &status));
	ck_assert_int_eq(status.posix_stream_flush_error, EFBIG);
	ok(posix_trace_close(log_id));
	close(copy);
}
END_TEST

/* FLUSH-10 SIG-5: the signal mask stays, and signals of the application stay pending. */
START_TEST(flush_keeps_a_signal_that_was_pending_before)
{
	sigset_t set, pending, mask;

	signal(SIGXFSZ, count_signal);
	use_plain_stream();
	trace_many(5);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	fails(flush_limited(0), EFBIG);
	sigpending(&pending);
	ck_assert(sigismember(&pending, SIGXFSZ));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ck_assert_int_eq(nr_signals, 1);
	trace_many(1);
	fails(flush_limited(0), EFBIG);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGXFSZ));
	ck_assert_int_eq(nr_signals, 1);
	finish();
}
END_TEST

/* FLUSH-10: a SIGXFSZ sent to the process is not that of the flush. */
START_TEST(flush_adds_nothing_to_a_signal_of_the_process)
{
	sigset_t set;

	signal(SIGXFSZ, count_signal);
	use_plain_stream();
	trace_many(5);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGXFSZ);
	fails(flush_limited(0), EFBIG);
	ck_assert_int_eq(nr_signals, 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ck_assert_int_eq(nr_signals, 1);
	finish();
}
END_TEST

/* FLUSH-11 LOGP-8: events that could not be written are freed, too. */
START_TEST(flush_that_fails_frees_the_space_of_a_full_stream)
{
	uint32_t n;

	signal(SIGXFSZ, count_signal);
	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	fails(flush_limited(0), EFBIG);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_next();
	ok(posix_trace_flush(stream));
	finish();
	expect(POSIX_TRACE_START); /* the second one */
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(n, n + 1);
}
END_TEST

/* SYSEV-8 LOGP-8 FLUSH-8 FLUSH-10: the library's thread reports errors with an event and in the status. */
START_TEST(flush_policy_records_an_error_of_its_own_flush)
{
	struct posix_trace_status_info status;
	int error;

	signal(SIGXFSZ, count_signal);
	use_stream(POSIX_TRACE_FLUSH, 4096, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	px_test_limit_files(0);
	do {
		trace_next();
		sched_yield();
		posix_trace_get_status(stream, &status);
	} while (status.posix_stream_flush_error == 0);
	px_test_unlimit_files();
	ck_assert_int_eq(status.posix_stream_flush_error, EFBIG);
	while (px_test_status(stream).posix_stream_flush_status == POSIX_TRACE_FLUSHING)
		sched_yield();
	ck_assert_int_eq(nr_signals, 0);
	trace_next();
	ok(posix_trace_flush(stream));
	finish();
	do
		ck_assert_uint_ne(px_test_take_recorded(log_id, &seen), 0);
	while (seen.info.posix_event_id != POSIX_TRACE_ERROR);
	ck_assert_uint_eq(seen.length, sizeof(error));
	memcpy(&error, seen.data, sizeof(error));
	ck_assert_int_eq(error, EFBIG);
	ck_assert_ptr_null(seen.info.posix_prog_address);
	ck_assert_int_eq(px_test_status(log_id).posix_stream_flush_error, EFBIG);
}
END_TEST

/*
 * A log on a file system of this size, which no other process can open.  Return false if this process may not mount it;
 * then the test is skipped.
 */
static bool use_small_disk(const char *test, const char *options)
{
	char folder[] = "/tmp/posixtrace-mount.XXXXXX", path[64];

	if (!mkdtemp(folder) || mount("none", folder, "tmpfs", 0, options) != 0) {
		rmdir(folder);
		px_test_skip_in(test, "no right to mount a file system");
		return false;
	}
	snprintf(path, sizeof(path), "%s/log", folder);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	ck_assert_int_ge(file, 0);
	return true;
}

/* FLUSH-6 FLUSH-8 LOGP-8 MODEL-3 */
START_TEST(flush_on_a_full_file_system_gives_enospc_and_goes_on)
{
	int error = 0;

	if (!use_small_disk(__func__, "size=128k"))
		return;
	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 18, POSIX_TRACE_APPEND, 0);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 30 && !error; i++) {
		trace_many(100);
		error = posix_trace_flush(stream);
	}
	fails(error, ENOSPC);
	expect_log_status(ENOSPC, POSIX_TRACE_OVERRUN, POSIX_TRACE_NOT_FULL);
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_many(100);
	error = posix_trace_shutdown(stream);
	ck_assert(error == 0 || error == ENOSPC); /* SHUT-8 */
	fails(posix_trace_shutdown(stream), EINVAL);
	open_log(PX_TEST_LOG_WAS_BROKEN);
	expect(POSIX_TRACE_START);
	expect_numbers(0, 100);
}
END_TEST

/* SHUT-8 FLUSH-10 SHUT-5 */
START_TEST(shutdown_that_cannot_write_says_so_and_frees_everything)
{
	int error;

	signal(SIGXFSZ, count_signal);
	use_stream(_i ? POSIX_TRACE_FLUSH : POSIX_TRACE_UNTIL_FULL, 1 << 18, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	trace_many(10);
	px_test_limit_files(px_test_file_size(file));
	error = posix_trace_shutdown(stream);
	px_test_unlimit_files();
	fails(error, EFBIG);
	ck_assert_int_eq(nr_signals, 0);
	ck_assert_ptr_null(px_test_accepting(stream));
	ck_assert_int_eq(find_flusher(), 0);
	use_plain_stream();
	trace_next();
	finish();
}
END_TEST

/* CLEAR-7 FLUSH-10: clear also writes to the file. */
START_TEST(clear_beyond_the_file_size_limit_gives_efbig_and_no_signal)
{
	int error;

	signal(SIGXFSZ, count_signal);
	use_plain_stream();
	trace_many(100);
	ok(posix_trace_flush(stream));
	px_test_limit_files(0);
	error = posix_trace_clear(stream);
	px_test_unlimit_files();
	ck_assert_int_eq(nr_signals, 0);
	fails(error, EFBIG);
	next_number = 1000;
	trace_many(50);
	finish();
	expect_numbers(1000, 1050);
	expect_stop(0);
	expect_end();
}
END_TEST

/* A full log. */

/* LOGP-2 LOGP-3 LOGP-6 LOGP-5 FLUSH-4 FLUSH-9 SETLFP-1 AMB-5 STATUS-2 */
START_TEST(flush_into_a_full_log_ends_it_with_stop_and_suspends_the_stream)
{
	struct posix_trace_status_info status;
	struct tale tale;
	size_t log_size;
	trace_attr_t attr;

	use_stream(POSIX_TRACE_UNTIL_FULL, 65536, POSIX_TRACE_UNTIL_FULL, 65536);
	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getlogsize(&attr, &log_size));
	ok(posix_trace_start(stream));
	do {
		trace_many(100);
		ok(posix_trace_flush(stream));
		ck_assert_uint_lt(next_number, 10000);
		ok(posix_trace_get_status(stream, &status));
	} while (status.posix_log_full_status == POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_FULL);
	ok(posix_trace_start(stream));
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
	trace_many(10);
	ok(posix_trace_flush(stream));
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_FULL);
	finish();
	ck_assert_uint_le(facts.commit.end * sizeof(struct px_txtb_entry) + facts.commit.end_frame, log_size);
	tale = read_tale(0);
	ck_assert_uint_eq(tale.nr_missing, 0);
	ck_assert(tale.ends_with_stop);
	ok(posix_trace_rewind(log_id));
	while (px_test_take_recorded(log_id, &seen))
		if (seen.info.posix_event_id == POSIX_TRACE_STOP)
			ck_assert_int_ne(*(int *)(void *)seen.data, 0);
	ck_assert_int_eq(px_test_status(log_id).posix_log_full_status, POSIX_TRACE_FULL);
	ck_assert_int_eq(px_test_status(log_id).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
}
END_TEST

/* LOGP-3 LOGP-6: the same by the library's own thread, and at shutdown. */
START_TEST(flush_policy_with_a_full_log_suspends_the_stream)
{
	struct tale tale;

	use_stream(POSIX_TRACE_FLUSH, 1 << 18, POSIX_TRACE_UNTIL_FULL, 8192);
	ok(posix_trace_start(stream));
	if (_i == 0) {
		while (px_test_status(stream).posix_log_full_status == POSIX_TRACE_NOT_FULL)
			trace_next();
		ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
	} else {
		trace_many(2000);
	}
	finish();
	tale = read_tale(0);
	ck_assert(tale.ends_with_stop);
	ck_assert_int_eq(px_test_status(log_id).posix_log_full_status, POSIX_TRACE_FULL);
}
END_TEST

/* LOGP-3: after a failed write, the discarded events are gone, and STOP is still the last event. */
START_TEST(flush_into_a_full_log_that_fails_ends_with_stop_all_the_same)
{
	struct tale tale;

	signal(SIGXFSZ, count_signal);
	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 18, POSIX_TRACE_UNTIL_FULL, 65536);
	ok(posix_trace_start(stream));
	trace_many(100);
	ok(posix_trace_flush(stream));
	nr_logged();
	trace_many(2000);
	/*
	 * Only the last piece does not fit: after the first flush there are three pieces of a quarter of the entries
	 * each, and a smaller one.
	 */
	fails(flush_limited(facts.layout.frames + facts.commit.end_frame +
			    3 * (sizeof(struct px_log_frame) + facts.header.nr_entries / 4 * 2) + 180),
	      EFBIG);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
	finish();
	tale = read_tale(0);
	ck_assert(tale.ends_with_stop);
}
END_TEST

/* CLEAR-3 CLEAR-7 CLEAR-10 LOGP-6 */
START_TEST(clear_makes_a_full_log_usable_again)
{
	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 18, POSIX_TRACE_UNTIL_FULL, 16384);
	ok(posix_trace_start(stream));
	trace_many(2000);
	ok(posix_trace_flush(stream));
	expect_log_status(0, POSIX_TRACE_OVERRUN, POSIX_TRACE_FULL);
	ok(posix_trace_clear(stream));
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_SUSPENDED);
	ok(posix_trace_start(stream));
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	next_number = 7000;
	trace_many(10);
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(7000, 7010);
	expect_stop(0);
	expect_end();
	ck_assert_int_eq(facts.commit.log_full, 0);
	ck_assert_uint_eq(facts.commit.nr_lost, 0);
}
END_TEST

/* LOGP-1 LOGP-7 FLUSH-4 STATUS-11 STATUS-2: a LOOP log has the newest events, and reports no false gap. */
START_TEST(flush_into_a_looping_log_keeps_the_newest)
{
	struct tale tale;

	use_stream(POSIX_TRACE_UNTIL_FULL, 65536, POSIX_TRACE_LOOP, 65536);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 10; i++) {
		trace_many(50);
		ok(posix_trace_flush(stream));
	}
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	for (int i = 0; i < 60; i++) {
		trace_many(50);
		ok(posix_trace_flush(stream));
	}
	expect_log_status(0, POSIX_TRACE_OVERRUN, POSIX_TRACE_FULL);
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_FULL);
	trace_many(200);
	ok(posix_trace_flush(stream));
	expect_log_status(0, POSIX_TRACE_OVERRUN, POSIX_TRACE_FULL);
	finish();
	do
		ck_assert_uint_ne(px_test_take_recorded(log_id, &seen), 0);
	while (seen.info.posix_event_id != type);
	ck_assert_uint_gt(px_test_number(&seen), 1000);
	tale.nr_numbers = px_test_number(&seen) + 1;
	while (px_test_take_recorded(log_id, &seen)) {
		ck_assert_uint_ne(seen.info.posix_event_id, POSIX_TRACE_OVERFLOW);
		if (seen.info.posix_event_id == type)
			ck_assert_uint_eq(px_test_number(&seen), tale.nr_numbers++);
	}
	ck_assert_uint_eq(tale.nr_numbers, next_number);
	ck_assert_int_eq(px_test_status(log_id).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(px_test_status(log_id).posix_stream_overrun_status,
			 POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* LOGP-4 STATUS-10 */
START_TEST(flush_into_an_appending_log_never_fills_it)
{
	struct tale tale;

	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 20, POSIX_TRACE_APPEND, 4096);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 20; i++) {
		trace_many(1000);
		ok(posix_trace_flush(stream));
		expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	}
	finish();
	tale = read_tale(0);
	ck_assert_uint_eq(tale.nr_numbers, 20000);
	ck_assert_int_eq(px_test_status(log_id).posix_log_full_status, POSIX_TRACE_NOT_FULL);
}
END_TEST

static const int log_policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};

/* CLEAR-3 CLEAR-5 CLEAR-7 CLEAR-8 CLEAR-9, traps 15 and 16 */
START_TEST(clear_makes_the_log_as_new)
{
	trace_event_set_t set;

	use_stream(POSIX_TRACE_UNTIL_FULL, 1 << 20, log_policies[_i % 3], _i < 3 ? 1 << 20 : 16384);
	ok(posix_trace_start(stream));
	trace_many(1000);
	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set));
	ok(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	for (int i = 0; i < 3; i++) {
		trace_many(100);
		ok(posix_trace_flush(stream));
	}
	ok(posix_trace_clear(stream));
	ok(posix_trace_get_filter(stream, &set));
	ck_assert_uint_eq(set.__bits[0], 0);
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	ck_assert_uint_eq(nr_logged(), 0);
	ck_assert_uint_eq(facts.nr_entries, 0);
	if (_i != 4) { /* otherwise the log was full, and the stream stopped */
		ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
		ok(posix_trace_stop(stream));
		ok(posix_trace_clear(stream));
	}
	ok(posix_trace_start(stream));
	next_number = 5000;
	trace_many(20);
	ok(posix_trace_flush(stream));
	trace_many(20);
	finish();
	ck_assert_uint_eq(facts.commit.first, 0);
	expect(POSIX_TRACE_START);
	expect_numbers(5000, 5020);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(5020, 5040);
	expect_stop(0);
	expect_end();
}
END_TEST

/* CLEAR-7 GETATTR-2: attributes and names stay. */
START_TEST(clear_keeps_attributes_and_names_in_the_log)
{
	trace_event_id_t late;
	trace_attr_t before, after;
	char name[TRACE_EVENT_NAME_MAX + 1];

	use_plain_stream();
	ok(posix_trace_eventid_open("late", &late));
	ok(posix_trace_get_attr(stream, &before));
	trace_many(10);
	ok(posix_trace_flush(stream));
	ok(posix_trace_clear(stream));
	finish();
	ok(posix_trace_get_attr(log_id, &after));
	ck_assert_mem_eq(&before, &after, sizeof(struct px_attr));
	ok(posix_trace_eventid_get_name(log_id, late, name));
	ck_assert_str_eq(name, "late");
}
END_TEST

/* CLEAR-5 STATUS-8: reported losses and the flags of the status begin again. */
START_TEST(clear_forgets_errors_and_losses)
{
	signal(SIGXFSZ, count_signal);
	use_plain_stream();
	trace_many(10);
	fails(flush_limited(0), EFBIG);
	ok(posix_trace_clear(stream));
	expect_log_status(0, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL);
	finish();
	ck_assert_int_eq(px_test_status(log_id).posix_stream_flush_error, 0);
	ck_assert_int_eq(px_test_status(log_id).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
}
END_TEST

/* The end. */

/* SHUT-1 SHUT-2 SHUT-3 FLOP-5 */
START_TEST(shutdown_of_a_running_stream_stops_and_logs_it)
{
	use_plain_stream();
	trace_many(100);
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, 100);
	expect_stop(0);
	expect_end();
}
END_TEST

/* SHUT-2 STOP-3: a stream that stopped automatically gets no second STOP. */
START_TEST(shutdown_of_a_full_stream_logs_its_automatic_stop)
{
	uint32_t n;

	use_stream(POSIX_TRACE_UNTIL_FULL, 4096, POSIX_TRACE_LOOP, 0);
	ok(posix_trace_start(stream));
	n = fill();
	finish();
	expect(POSIX_TRACE_START);
	expect_numbers(0, n);
	expect_stop(1);
	expect_end();
}
END_TEST

/* SHUT-9 */
START_TEST(shutdown_by_two_threads_succeeds_once)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		int mine;

		use_stream(POSIX_TRACE_FLUSH, 4096, POSIX_TRACE_LOOP, 0);
		ok(posix_trace_start(stream));
		trace_many(100);
		sem_init(&other_runs, 0, 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, shut_down_in_thread, NULL), 0);
		while (sem_wait(&other_runs) != 0)
			;
		mine = posix_trace_shutdown(stream);
		pthread_join(thread, NULL);
		ck_assert((mine == 0 && other_error == EINVAL) ||
			  (mine == EINVAL && other_error == 0));
		open_log(0);
		ok(posix_trace_close(log_id));
	}
}
END_TEST

/* A child with its own stream records, flushes, records again and exits. */
static void live_in_child(int policy)
{
	use_stream(policy, 65536, POSIX_TRACE_LOOP, 1 << 20);
	if (posix_trace_start(stream))
		_exit(9);
	trace_many(10);
	if (policy == POSIX_TRACE_UNTIL_FULL && posix_trace_flush(stream))
		_exit(8);
	trace_many(10);
}

static void wait_for_child(pid_t child)
{
	int status;

	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* SHUT-11 EXIT-1 EXIT-8 */
START_TEST(exit_without_shutdown_completes_the_log)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		live_in_child(_i ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP);
		exit(0);
	}
	wait_for_child(child);
	open_log(0);
	expect(POSIX_TRACE_START);
	expect_numbers(0, 10);
	if (_i) {
		expect(POSIX_TRACE_FLUSH_START);
		expect(POSIX_TRACE_FLUSH_STOP);
	}
	expect_numbers(10, 20);
	expect_stop(0);
	expect_end();
}
END_TEST

/* EXIT-1 EXIT-4 EXEC-4: a process that ends without shutdown leaves a log that opens as complete. */
START_TEST(exit_at_once_leaves_what_completes_the_log)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		live_in_child(POSIX_TRACE_UNTIL_FULL);
		if (_i == 0)
			_exit(0);
		execl("/bin/true", "true", (char *)NULL); /* EXEC-4 */
		_exit(7);
	}
	wait_for_child(child);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_OPEN);
	log_id = px_test_open(file);
	px_test_check_log(file, 0, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_RECOVERED);
	expect(POSIX_TRACE_START);
	expect_numbers(0, 10);
	expect(POSIX_TRACE_FLUSH_START);
	expect(POSIX_TRACE_FLUSH_STOP);
	expect_numbers(10, 20);
	expect_stop(0);
	expect_end();
}
END_TEST

static void await_end_of_first_thread(void)
{
	char link[1];

	while (readlink("/proc/self/exe", link, 1) == 1)
		sleep_ms(1);
}

static void *end_after_the_first(void *unused)
{
	await_end_of_first_thread();
	return unused;
}

/*
 * Return true if the first thread of a child of fork() can end before the others.  With musl 1.2.3 it keeps a lock, and
 * the others wait for that when they end, with all signals blocked.  SIGKILL ends them.
 */
static bool can_first_thread_of_child_end(void)
{
	pthread_t thread;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (pthread_create(&thread, NULL, end_after_the_first, NULL) != 0)
			_exit(1);
		pthread_exit(NULL);
	}
	for (int i = 0; i < 5000; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
		sleep_ms(1);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return false;
}

/* The last thread of a program: it records after the first thread has ended, and after the flush thread has looked. */
static void *record_as_last(void *by_system_call)
{
	await_end_of_first_thread();
	sleep_ms(600);
	trace_many(10);
	if (by_system_call)
		syscall(SYS_exit, 0);
	return NULL;
}

/* Exit handlers run in the flush thread, with the signal mask of the program. */
static void record_in_handler(void)
{
	sigset_t mask;

	trace_next();
	if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0 || sigismember(&mask, SIGTERM) ||
	    !sigismember(&mask, SIGUSR1))
		_exit(6);
}

enum { LAST_IS_WORKER, LAST_IS_FIRST, LAST_OF_TWO_LOGS, LAST_BY_SYSTEM_CALL, LAST_CASES };

static void leave_to_last_thread(int which)
{
	trace_id_t other;
	pthread_t thread;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (which == LAST_OF_TWO_LOGS)
		other = px_test_create_log(&(struct px_test_stream){.nr_rings = 1}, px_test_file());
	live_in_child(POSIX_TRACE_FLUSH);
	if (which == LAST_OF_TWO_LOGS && posix_trace_start(other) != 0)
		_exit(7);
	atexit(record_in_handler);
	if (which == LAST_IS_FIRST)
		pthread_exit(NULL);
	if (pthread_create(&thread, NULL, record_as_last, which == LAST_BY_SYSTEM_CALL ? &type : NULL) != 0)
		_exit(8);
	if (which == LAST_BY_SYSTEM_CALL)
		syscall(SYS_exit, 3);
	pthread_exit(NULL);
}

/* EXIT-1 EXIT-8: the flush thread does not count as a thread of the program, which ends with its own last thread. */
START_TEST(exit_of_the_last_thread_ends_the_process)
{
	uint32_t nr_events = _i == LAST_IS_FIRST ? 21 : _i == LAST_BY_SYSTEM_CALL ? 30 : 31;
	pid_t child;
	int status;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("sanitizers have threads of their own");
		return;
	}
	fflush(NULL);
	if (!px_test_sees_end_of_first_thread()) {
		px_test_skip("a process cannot see here that its first thread has ended");
		return;
	}
	if (_i != LAST_BY_SYSTEM_CALL && !can_first_thread_of_child_end()) {
		px_test_skip("the first thread of a child cannot end before the others with this C library");
		return;
	}
	fflush(NULL);
	child = fork();
	if (child == 0)
		leave_to_last_thread(_i);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), _i == LAST_BY_SYSTEM_CALL ? 3 : 0);
	log_id = px_test_open(file);
	px_test_check_log(file, 0, &facts);
	ck_assert_int_eq(facts.commit.is_complete,
			 _i == LAST_BY_SYSTEM_CALL ? PX_LOG_RECOVERED : PX_LOG_COMPLETE);
	ck_assert_uint_eq(read_tale(0).nr_numbers, nr_events);
	ok(posix_trace_close(log_id));
}
END_TEST

/* FORK-6 SHUT-12: the end of a child does not end the parent's stream. */
START_TEST(exit_of_a_child_leaves_the_log_alone)
{
	pid_t child;

	if (getenv("PX_SANITIZED")) {
		px_test_skip("the leak check of the child waits for a lock that another thread "
			     "held at the fork");
		return;
	}
	use_stream(POSIX_TRACE_FLUSH, 65536, POSIX_TRACE_LOOP, 1 << 20);
	ok(posix_trace_start(stream));
	trace_many(10);
	fflush(NULL);
	child = fork();
	if (child == 0)
		exit(0);
	wait_for_child(child);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_many(10);
	ok(posix_trace_flush(stream));
	finish();
	ck_assert_uint_eq(read_tale(0).nr_numbers, 20);
}
END_TEST

static void use_log_functions(void)
{
	int fd = memfd_create("log", 0);

	posix_trace_create_withlog(0, NULL, fd, &stream); /* no Check assertions, because Check writes files */
	posix_trace_start(stream);
	trace_next();
	posix_trace_flush(stream);
	posix_trace_clear(stream);
	posix_trace_shutdown(stream);
	posix_trace_open(fd, &log_id);
	posix_trace_rewind(log_id);
	posix_trace_close(log_id);
	syscall(SYS_close, fd);
}

/* GEN-7 CANC-3: none of these calls is left half done. */
START_TEST(log_functions_are_no_cancellation_points)
{
	px_test_with_cancellation_pending(use_log_functions);
}
END_TEST

static int error_of_namer;
static sem_t begun_to_name;

static void set_no_namer(void)
{
	sem_post(&begun_to_name);
	error_of_namer = txtrace_set_namer(stream, NULL, NULL);
}

static void *set_no_namer_cancelled(void *unused)
{
	px_test_with_cancellation_pending(set_no_namer);
	return unused;
}

/* The call waits for a flush that is in progress, and is not cancelled during the wait. */
START_TEST(set_namer_during_a_flush_is_no_cancellation_point)
{
	pthread_t thread;

	use_plain_stream();
	trace_many(10);
	sem_init(&begun_to_name, 0, 0);
	hold_flush("log.write.begin", 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, set_no_namer_cancelled, NULL), 0);
	while (sem_wait(&begun_to_name) != 0)
		;
	sleep_ms(50); /* so that it waits; if it does not wait yet, the test checks nothing */
	let_flush_go();
	pthread_join(thread, NULL);
	ok(error_of_namer);
	finish();
}
END_TEST

static bool stop_threads;

static void *write_all_the_time(void *unused)
{
	while (!__atomic_load_n(&stop_threads, __ATOMIC_RELAXED)) {
		px_test_trace(type, 0);
		sched_yield();
	}
	return unused;
}

static void *flush_all_the_time(void *unused)
{
	while (!__atomic_load_n(&stop_threads, __ATOMIC_RELAXED))
		posix_trace_flush(stream);
	return unused;
}

/* GEN-3 STATUS-1: all at once; the log that remains is valid. */
START_TEST(flush_clear_stop_and_status_at_once_leave_a_sound_log)
{
	pthread_t thread[3];

	use_stream(_i ? POSIX_TRACE_FLUSH : POSIX_TRACE_UNTIL_FULL, 8192, log_policies[_i], 65536);
	ok(posix_trace_start(stream));
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL,
						i < 2 ? write_all_the_time : flush_all_the_time,
						NULL),
				 0);
	for (int i = 0; i < 100; i++) {
		struct posix_trace_status_info status = px_test_status(stream);

		ck_assert(status.posix_stream_full_status == POSIX_TRACE_NOT_FULL ||
			  status.posix_stream_status == POSIX_TRACE_SUSPENDED);
		ok(posix_trace_start(stream));
		if (i % 10 == 3)
			ok(posix_trace_clear(stream));
		if (i % 7 == 2)
			ok(posix_trace_stop(stream));
		sched_yield();
	}
	ok(posix_trace_shutdown(stream));
	__atomic_store_n(&stop_threads, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	open_log(0);
	while (px_test_take_recorded(log_id, &seen))
		;
	ok(posix_trace_close(log_id));
}
END_TEST

static struct px_stream *peeked;
static uint32_t nr_late;

/* For each event that is read, record one more with the same time; no writer of the library does this. */
static void write_an_old_one(const char *point)
{
	const struct px_view *view = &peeked->view;
	struct px_ring ring = px_rings_get(&view->rings, 0);
	struct px_event made = {.id = PX_EVENT_UNNAMED, .tid = 4711};
	struct px_reservation at;

	if (strcmp(point, "reader.take.copied") != 0)
		return;
	if (!px_ring_reserve(&ring, 1, 0, (enum px_clock_source)view->rings.source, &at) ||
	    !px_ring_claim(&ring, at.position, 1, made.tid))
		return;
	at.counter = peeked->reader.reported_counter;
	px_record_write(&ring, &at, 1, &made, view->rings.shift, 0);
	px_ring_commit(&ring, at.position, 1, made.tid);
	nr_late++;
}

/* SHUT-8: a process of another user may write anything, also into a stopped stream. */
START_TEST(shutdown_of_events_without_end_comes_back)
{
	use_plain_stream();
	peeked = px_handle_lock(stream);
	px_handle_unlock(stream);
	px_test_trace(type, 1);
	__atomic_store_n(&px_testpoint_hook, write_an_old_one, __ATOMIC_RELEASE);
	ok(posix_trace_shutdown(stream));
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ck_assert_uint_gt(nr_late, 10000);
}
END_TEST

static TCase *flush_cases(void)
{
	TCase *tcase = tcase_create("flush");

	tcase_add_test(tcase, shutdown_of_events_without_end_comes_back);
	tcase_add_test(tcase, flush_stream_without_log_gives_einval);
	tcase_add_test(tcase, flush_works_in_every_state_and_is_marked_while_running);
	tcase_add_test(tcase, flush_events_tell_who_called);
	tcase_add_loop_test(tcase, flush_pair_in_the_filter_is_not_recorded, 0, 4);
	tcase_add_test(tcase, flush_of_a_full_stream_starts_it_again);
	tcase_add_test(tcase, flush_of_a_full_stream_marks_what_was_lost);
	tcase_add_loop_test(tcase, flush_of_a_full_stream_that_ends_marks_its_loss, 0, 3);
	tcase_add_test(tcase, flush_of_a_full_stream_that_starts_again_ends_its_gap);
	tcase_add_loop_test(tcase, flush_of_a_full_stream_marks_its_loss_without_filtered_events, 0, 4);
	tcase_add_test(tcase, flush_of_a_full_stream_that_was_stopped_leaves_it_stopped);
	tcase_add_test(tcase, flush_in_progress_is_told_and_holds_nobody_up);
	tcase_add_test(tcase, flush_by_another_thread_lets_the_streams_own_sleep);
	tcase_add_test(tcase, flush_stop_is_recorded_before_the_status_says_so);
	tcase_add_test(tcase, clear_waits_for_the_flush_in_progress);
	tcase_add_test(tcase, clear_in_progress_is_told_and_holds_nobody_up);
	tcase_add_loop_test(tcase, shutdown_during_a_flush_loses_nothing, 0, 3);
	tcase_add_loop_test(tcase, shutdown_during_a_flush_into_a_full_log_ends_it_with_stop, 0, 8);
	tcase_add_test(tcase, flush_from_many_threads_is_one_after_the_other);
	tcase_add_test(tcase, flush_while_an_event_is_recorded_gives_it_a_later_time);
	tcase_add_test(tcase, flush_policy_loses_nothing_of_a_paced_writer);
	tcase_add_test(tcase, flush_policy_of_a_hasty_writer_tells_every_loss);
	tcase_add_loop_test(tcase, flush_of_hasty_writers_has_times_that_do_not_fall, 0, 27);
	tcase_add_test(tcase, flush_policy_flushes_also_what_is_little);
	tcase_add_test(tcase, flush_policy_has_a_thread_that_takes_no_signals);
	tcase_add_test(tcase, flush_policy_has_a_thread_with_short_turns);
	return tcase;
}

static TCase *error_cases(void)
{
	TCase *tcase = tcase_create("errors");

	tcase_add_test(tcase, flush_beyond_the_file_size_limit_gives_efbig_once_and_goes_on);
	tcase_add_test(tcase, flush_keeps_a_signal_that_was_pending_before);
	tcase_add_test(tcase, flush_adds_nothing_to_a_signal_of_the_process);
	tcase_add_test(tcase, flush_that_fails_frees_the_space_of_a_full_stream);
	tcase_add_loop_test(tcase, flush_that_failed_leaves_a_hole_that_the_extensions_tell, 0, 3);
	tcase_add_test(tcase, flush_policy_records_an_error_of_its_own_flush);
	tcase_add_test(tcase, flush_on_a_full_file_system_gives_enospc_and_goes_on);
	tcase_add_loop_test(tcase, shutdown_that_cannot_write_says_so_and_frees_everything, 0, 2);
	tcase_add_test(tcase, clear_beyond_the_file_size_limit_gives_efbig_and_no_signal);
	return tcase;
}

static TCase *full_cases(void)
{
	TCase *tcase = tcase_create("full and clear");

	tcase_add_test(tcase, flush_into_a_full_log_ends_it_with_stop_and_suspends_the_stream);
	tcase_add_loop_test(tcase, flush_policy_with_a_full_log_suspends_the_stream, 0, 2);
	tcase_add_test(tcase, flush_into_a_full_log_that_fails_ends_with_stop_all_the_same);
	tcase_add_test(tcase, clear_makes_a_full_log_usable_again);
	tcase_add_test(tcase, flush_into_a_looping_log_keeps_the_newest);
	tcase_add_test(tcase, flush_into_an_appending_log_never_fills_it);
	tcase_add_loop_test(tcase, clear_makes_the_log_as_new, 0, 6);
	tcase_add_test(tcase, clear_keeps_attributes_and_names_in_the_log);
	tcase_add_test(tcase, clear_forgets_errors_and_losses);
	return tcase;
}

static TCase *end_cases(void)
{
	TCase *tcase = tcase_create("end");

	tcase_add_test(tcase, shutdown_of_a_running_stream_stops_and_logs_it);
	tcase_add_test(tcase, shutdown_of_a_full_stream_logs_its_automatic_stop);
	tcase_add_test(tcase, shutdown_by_two_threads_succeeds_once);
	tcase_add_loop_test(tcase, exit_without_shutdown_completes_the_log, 0, 2);
	tcase_add_loop_test(tcase, exit_at_once_leaves_what_completes_the_log, 0, 2);
	tcase_add_loop_test(tcase, exit_of_the_last_thread_ends_the_process, 0, LAST_CASES);
	tcase_add_test(tcase, exit_of_a_child_leaves_the_log_alone);
	tcase_add_test(tcase, log_functions_are_no_cancellation_points);
	tcase_add_test(tcase, set_namer_during_a_flush_is_no_cancellation_point);
	tcase_add_loop_test(tcase, flush_clear_stop_and_status_at_once_leave_a_sound_log, 0, 3);
	return tcase;
}

int main(void)
{
	TCase *tcases[] = {flush_cases(), error_cases(), full_cases(), end_cases()};
	Suite *suite = suite_create("flush");

	for (size_t i = 0; i < sizeof(tcases) / sizeof(tcases[0]); i++) {
		tcase_add_checked_fixture(tcases[i], setup, teardown);
		tcase_set_timeout(tcases[i], 60);
		suite_add_tcase(suite, tcases[i]);
	}
	return run_suite(suite);
}
