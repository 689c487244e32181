/* SPDX-License-Identifier: MIT */
/* Several processes: writers that die, readers that sleep, full streams, logs. */
#include "support/helper_process.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "support/log_checker.h"
#include "support/txtb_checker.h"

#define SECOND UINT64_C(1000000000)

static struct px_helper target;
static trace_event_id_t type;

static void setup(void)
{
	target = px_helper_make(PX_BY_FORK_EXEC);
	type = px_helper_open(&target, "other");
}

static const char *const ring_points[] = {
	"point.state.loaded",	  "ring.reserve.loaded",      "ring.reserve.done",
	"ring.claim.loaded",	  "ring.claim.done",	      "record.write.first",
	"ring.commit.ready",	  "ring.commit.done",	      "process.attach.mapped",
	"process.attach.swapped", "process.refresh.followed", "objects.add.reserved",
	"objects.add.writing",
};

/* EXIT-6 EVENT-17: other threads wait for a bounded time only, and lose nothing */
START_TEST(writer_killed_or_stopped_anywhere_delays_others_for_a_bounded_time)
{
	const int signal = _i % 2 ? SIGSTOP : SIGKILL;
	const char *point = ring_points[_i / 2];
	trace_id_t stream = px_test_create_for(target.pid, true);
	struct px_helper other = px_helper_make_by(&target, PX_BY_SPAWN);
	struct px_test_event event;
	uint64_t begin;
	int64_t number, last = 0;

	ok(posix_trace_start(stream));
	ck_assert_uint_eq(px_helper_open(&other, "other"), type);
	if (_i / 2 < 8) /* the others are about to record their first event */
		px_helper_trace(&target, type, 5000);
	px_helper_signal_at(&target, point, signal);
	px_helper_begin(&target, "trace", type, 5001, NULL);
	px_helper_await_state(&target, _i % 2 ? 'T' : 'Z');
	begin = monotonic_ns();
	for (uint32_t i = 1; i <= 2000; i++) {
		px_helper_trace(&other, type, i);
		do
			number = px_test_next_number(stream, &event);
		while (number >= 5000);
		if (number > 0)
			ck_assert_int_eq(number, ++last);
	}
	while ((number = px_test_next_number(stream, &event)) >= 0)
		last += number < 5000;
	ck_assert_int_eq(last, 2000);
	ck_assert_uint_lt(monotonic_ns() - begin, (getenv("PX_SANITIZED") ? 60 : 3) * SECOND);
	kill(target.pid, SIGCONT);
	px_helper_trace(&other, type, 1);
}
END_TEST

static void *read_one(void *argument)
{
	static struct px_test_event event;
	trace_id_t stream = *(trace_id_t *)argument;
	int unavailable;

	do {
		if (posix_trace_getnext_event(stream, &event.info, event.data, sizeof(event.data),
					      &event.length, &unavailable) != 0)
			return NULL;
	} while (event.info.posix_event_id == POSIX_TRACE_START);
	return &event;
}

static pid_t reader_tid;

static void *read_one_and_tell(void *argument)
{
	__atomic_store_n(&reader_tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return read_one(argument);
}

/* GETNEXT-2: the reader sleeps in one process, and another process records the event */
START_TEST(getnext_sleeper_is_woken_by_another_process)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child = px_helper_make_by(&target, _i % 2 ? PX_BY_SPAWN : PX_BY_CLONE);
	trace_event_id_t childs = px_helper_open(&child, "other");
	struct px_test_event *event;
	pthread_t reader;
	uint64_t begin;
	void *result;

	if (_i % 2 == 0 && !px_test_has_fork_advice()) {
		px_test_skip("without a handler, the child takes itself for its parent");
		return;
	}
	ck_assert_uint_eq(childs, type);
	reader_tid = 0;
	ck_assert_int_eq(pthread_create(&reader, NULL, read_one_and_tell, &stream), 0);
	while (__atomic_load_n(&reader_tid, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	px_test_wait_asleep(reader_tid);
	begin = monotonic_ns();
	px_helper_trace(_i < 2 ? &child : &target, type, 9);
	pthread_join(reader, &result);
	ck_assert_uint_lt(monotonic_ns() - begin, SECOND);
	event = result;
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(px_test_number(event), 9);
	ck_assert_int_eq(event->info.posix_pid, _i < 2 ? child.pid : target.pid);
}
END_TEST

/* GETNEXT-16 GETNEXT-11 EXIT-3: the end of the target is not an event */
START_TEST(getnext_sleeper_sleeps_on_when_the_target_ends)
{
	trace_id_t stream = px_test_start_for(target.pid, false);
	pthread_t reader;
	void *result;

	reader_tid = 0;
	ck_assert_int_eq(pthread_create(&reader, NULL, read_one_and_tell, &stream), 0);
	while (__atomic_load_n(&reader_tid, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	px_test_wait_asleep(reader_tid);
	px_helper_kill(&target);
	sleep_ms(200);
	ck_assert_int_eq(pthread_tryjoin_np(reader, &result), EBUSY);
	ok(posix_trace_shutdown(stream));
	pthread_join(reader, &result);
	ck_assert_ptr_null(result);
}
END_TEST

static trace_id_t create_full(int policy, int fd)
{
	trace_attr_t attr;
	trace_id_t stream;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	/* A late flush must not lose events of a stream with a log. */
	ok(posix_trace_attr_setstreamsize(&attr, fd < 0 ? 4096 : 131072));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ok(txtrace_attr_setrings(&attr, 1));
	if (fd < 0)
		ok(posix_trace_create(target.pid, &attr, &stream));
	else
		ok(posix_trace_create_withlog(target.pid, &attr, fd, &stream));
	ok(posix_trace_start(stream));
	return stream;
}

/* UFULL-1 UFULL-5 UFULL-6 UFULL-8 STATUS-4 INFO-3 INFO-9: the target stops the stream, and the reader starts it */
START_TEST(until_full_stops_and_starts_across_processes)
{
	trace_id_t stream = create_full(POSIX_TRACE_UNTIL_FULL, -1);
	struct px_helper child = px_helper_make_by(&target, PX_BY_FORK);
	struct px_test_event event;
	trace_event_id_t got;
	uint32_t written = 0;

	while (px_test_status(stream).posix_stream_status == POSIX_TRACE_RUNNING) {
		px_helper_trace(written % 2 ? &child : &target, type, written);
		written++;
	}
	px_test_expect_status(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL,
			      POSIX_TRACE_NO_OVERRUN);
	px_helper_trace(&child, type, 9999);
	px_test_expect_status(stream, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
	px_test_expect(stream, POSIX_TRACE_START, &event);
	for (uint32_t i = 0; i < written; i++)
		px_test_expect_number(stream, i, i % 2 ? child.pid : target.pid);
	px_test_expect(stream, POSIX_TRACE_STOP, &event);
	ck_assert_int_eq(event.info.posix_pid, target.pid);
	ck_assert_uint_eq((uintptr_t)event.info.posix_thread_id, 0);
	ck_assert_ptr_null(event.info.posix_prog_address);
	for (int i = 0; i < 3; i++) {
		static const trace_event_id_t then[] = {POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME,
							POSIX_TRACE_START};

		got = px_test_take(stream, &event);
		ck_assert_uint_eq(got, then[i]);
		ck_assert_int_eq(event.info.posix_pid, target.pid);
		ck_assert_uint_eq((uintptr_t)event.info.posix_thread_id, 0);
	}
	px_helper_trace(&target, type, 1);
	px_test_expect_number(stream, 1, target.pid);
	ck_assert_int_eq(px_test_status(stream).posix_stream_status, POSIX_TRACE_RUNNING);
}
END_TEST

/*
 * FLUSHP-1 FLUSHP-7 MAP-1 MULTI-3 TRIDOPEN-1: the thread of the controller flushes events of processes that have ended
 * before
 */
START_TEST(flush_log_of_other_processes_has_their_names_and_threads)
{
	int fd = px_test_file();
	trace_id_t stream = create_full(POSIX_TRACE_FLUSH, fd);
	struct px_helper child = px_helper_make_by(&target, PX_BY_SPAWN);
	struct px_test_log_facts facts;
	struct px_test_event event;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t types[2] = {type, px_helper_open(&child, "the child's")};
	trace_id_t beside = px_test_create_for(target.pid, false), log;
	trace_event_id_t granted;
	int nr_granted = 0;

	/* The type was opened through another stream, and a target that never opened it records it. */
	ok(posix_trace_trid_eventid_open(beside, "granted", &granted));
	px_helper_trace(&target, granted, 0);
	for (uint32_t i = 0; i < 500; i++)
		px_helper_trace(i % 2 ? &child : &target, types[i % 2], i);
	px_helper_kill(&child);
	px_helper_kill(&target);
	ok(posix_trace_shutdown(stream));
	px_test_check_log(fd, 0, &facts);
	log = px_test_open(fd);
	for (uint32_t i = 0; i < 500;) {
		trace_event_id_t got = px_test_take_recorded(log, &event);

		ck_assert_uint_ne(got, 0);
		if (got < POSIX_TRACE_UNNAMED_USEREVENT || got == granted) {
			ck_assert_int_eq(event.info.posix_pid, target.pid);
			nr_granted += got == granted;
			continue;
		}
		ck_assert_uint_eq(got, types[i % 2]);
		ck_assert_uint_eq(px_test_number(&event), i);
		ck_assert_int_eq(event.info.posix_pid, i % 2 ? child.pid : target.pid);
		ok(posix_trace_eventid_get_name(log, got, name));
		ck_assert_str_eq(name, i % 2 ? "the child's" : "other");
		i++;
	}
	ck_assert_int_eq(nr_granted, 1);
	ok(posix_trace_eventid_get_name(log, granted, name));
	ck_assert_str_eq(name, "granted");
	ok(posix_trace_close(log));
	close(fd);
}
END_TEST

/* EXTRA: a ring of several processes is a valid image; each thread and type in it has a name. */
START_TEST(copy_of_a_ring_of_other_processes_is_accepted_by_the_viewer)
{
	trace_id_t stream = px_test_start_for(target.pid, true);
	struct px_helper child = px_helper_make_by(&target, PX_BY_FORK);
	static unsigned char image[1 << 20];
	struct txtb_trace trace;
	size_t size = sizeof(image);
	uint32_t nr_user = 0;
	double tick;

	for (uint32_t i = 0; i < 100; i++)
		px_helper_trace(i % 2 ? &child : &target, type, i);
	ok(posix_trace_stop(stream));
	ok(txtrace_copy_ring(stream, 0, image, sizeof(image), &size, &tick));
	ck_assert_uint_le(size, sizeof(image));
	ck_assert_int_eq(txtb_check(image, size, &trace), TXTB_ACCEPTED);
	ck_assert_uint_eq(trace.warnings, 0);
	for (uint32_t i = 0; i < trace.nr_events; i++) {
		const struct txtb_event *shown = &trace.events[i];
		char thread[32];

		ck_assert_uint_ne(shown->object, TXTB_NO_THREAD);
		if (shown->id != 0x1000 + type)
			continue;
		snprintf(thread, sizeof(thread), "%s %d", program_invocation_short_name,
			 (int)(nr_user % 2 ? child.pid : target.pid));
		ck_assert_str_eq(trace.objects[shown->object].name, thread);
		ck_assert_uint_eq(shown->info[0], nr_user++);
	}
	ck_assert_uint_eq(nr_user, 100);
	txtb_free(&trace);
}
END_TEST

static TCase *cases(void)
{
	TCase *tcase = tcase_create("apart");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase,
			    writer_killed_or_stopped_anywhere_delays_others_for_a_bounded_time, 0,
			    2 * (int)PX_ARRAY_SIZE(ring_points));
	tcase_add_loop_test(tcase, getnext_sleeper_is_woken_by_another_process, 0, 4);
	tcase_add_test(tcase, getnext_sleeper_sleeps_on_when_the_target_ends);
	tcase_add_test(tcase, until_full_stops_and_starts_across_processes);
	tcase_add_test(tcase, flush_log_of_other_processes_has_their_names_and_threads);
	tcase_add_test(tcase, copy_of_a_ring_of_other_processes_is_accepted_by_the_viewer);
	return tcase;
}

int main(int argc, char **argv)
{
	Suite *suite;

	if (px_helper_main(argc, argv, NULL))
		return 0;
	suite = suite_create("between");
	suite_add_tcase(suite, cases());
	return run_suite(suite);
}
