/* SPDX-License-Identifier: MIT */
/*
 * Streams that begin and end again and again: a process must free the memory of ended streams, and no thread may lose
 * memory to which it writes.
 */
#include "support/helper_process.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"

#define CYCLES (px_test_is_whole() ? 2000 : 600)
#define NR_THREADS 2
#define ROOM ((uint64_t)64 << 20) /* more than a few streams need, and less than all of them */

static trace_event_id_t type;

static void setup(void)
{
	type = px_test_open_type("cycled");
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static trace_id_t create(void)
{
	return px_test_create(&(struct px_test_stream){.nr_rings = 1, .size = 65536});
}

/* Return the address space of this process, in bytes. */
/* The sum of all mappings.  An emulator has mappings of its own, which grow, and this file does not show them. */
static uint64_t address_space(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long first, end;
	uint64_t sum = 0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
			sum += end - first;
	if (file)
		fclose(file);
	return sum;
}

/* Not under a sanitizer, because it needs address space itself. */
static void limit_address_space(void)
{
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};

	if (getenv("PX_SANITIZED"))
		return;
	limit.rlim_cur = address_space() + ROOM;
	setrlimit(RLIMIT_AS, &limit);
}

static void cycle(int times)
{
	for (int i = 0; i < times; i++) {
		trace_id_t stream = create();

		ok(posix_trace_start(stream));
		px_test_trace(type, (uint32_t)i);
		ok(posix_trace_shutdown(stream));
	}
}

/* The same, and check the event; no other thread traces. */
static void cycle_and_read(int times)
{
	for (int i = 0; i < times; i++) {
		trace_id_t stream = create();
		struct px_test_event event;

		ok(posix_trace_start(stream));
		px_test_trace(type, (uint32_t)i);
		px_test_expect(stream, POSIX_TRACE_START, &event);
		ck_assert_uint_eq(px_test_take(stream, &event), type);
		ck_assert_uint_eq(px_test_number(&event), (uint32_t)i);
		px_test_expect(stream, 0, &event);
		ok(posix_trace_shutdown(stream));
	}
}

/* Expect that cycles take no more address space than a few streams do. */
static void expect_memory_comes_back(void)
{
	uint64_t before;

	cycle(10);
	before = address_space();
	cycle_and_read(100);
	ck_assert_uint_le(address_space(), before + ((uint64_t)8 << 20));
}

/* Threads that trace without a pause. */

static bool is_over;

static void *trace_always(void *unused)
{
	for (uint32_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++)
		px_test_trace(type, UINT32_MAX);
	return unused;
}

static void *trace_briefly(void *unused)
{
	px_test_trace(type, UINT32_MAX);
	return unused;
}

/* SHUT-3: a process can have any number of streams, one after the other. */
START_TEST(cycles_of_streams_need_no_more_memory_with_time)
{
	pthread_t thread[NR_THREADS], brief;

	for (int i = 0; i < NR_THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_always, NULL), 0);
	cycle(10);
	limit_address_space();
	for (int i = 0; i < 100; i++) {
		cycle(CYCLES / 100);
		ck_assert_int_eq(pthread_create(&brief, NULL, trace_briefly, NULL), 0);
		pthread_join(brief, NULL);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}
END_TEST

/* Many threads, at the same time or one after the other. */

#define MANY_THREADS 2000

static uint32_t nr_looks;
static pthread_barrier_t all_have_traced;

static void count_look(const char *point)
{
	if (strcmp(point, "inside.looked") == 0)
		__atomic_fetch_add(&nr_looks, 1, __ATOMIC_RELAXED);
}

static void *trace_and_meet(void *unused)
{
	px_test_trace(type, 1);
	pthread_barrier_wait(&all_have_traced);
	return unused;
}

/* Return how often the threads read an entry.  All threads record an event before the first one ends. */
static uint32_t looks_of_many_threads(void)
{
	static pthread_t thread[MANY_THREADS];
	pthread_attr_t attr;

	nr_looks = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)128 << 10);
	pthread_barrier_init(&all_have_traced, NULL, MANY_THREADS);
	for (int i = 0; i < MANY_THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], &attr, trace_and_meet, NULL), 0);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&all_have_traced);
	pthread_attr_destroy(&attr);
	return nr_looks;
}

/* EVENT-8: the first event of a thread takes no longer if there are many threads, or if many have ended. */
START_TEST(threads_of_any_number_look_at_few_of_the_others)
{
	ok(posix_trace_start(create()));
	__atomic_store_n(&px_testpoint_hook, count_look, __ATOMIC_RELEASE);
	ck_assert_uint_le(looks_of_many_threads(), 2 * MANY_THREADS);
	for (int i = 0; i < 3; i++) {
		uint32_t looks = looks_of_many_threads();

		ck_assert_uint_ge(looks, MANY_THREADS / 2); /* reads of entries of ended threads, to reuse them */
		ck_assert_uint_le(looks, 8 * MANY_THREADS);
	}
}
END_TEST

/* SHUT-3: another thread gets the entry of an ended thread. */
START_TEST(threads_one_after_the_other_need_no_more_memory_with_time)
{
	uint64_t before = 0;

	ok(posix_trace_start(create()));
	for (int i = 0; i < 11000; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, trace_briefly, NULL), 0);
		pthread_join(thread, NULL);
		if (i == 1000)
			before = address_space();
	}
	if (!getenv("PX_SANITIZED"))
		ck_assert_uint_le(address_space(), before + ((uint64_t)1 << 20));
}
END_TEST

/* The target; the controller makes the cycles. */

static void trick_limit(struct px_order *order)
{
	limit_address_space();
	order->a = 0;
}

static void trick_threads(struct px_order *order)
{
	pthread_t thread;

	type = (trace_event_id_t)order->a;
	for (int i = 0; i < NR_THREADS; i++)
		order->a = pthread_create(&thread, NULL, trace_always, NULL);
}

static void trick_map(struct px_order *order)
{
	void *memory = mmap(NULL, ROOM / 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	order->a = memory == MAP_FAILED ? errno : munmap(memory, ROOM / 2);
}

/* CREATE-1 SHUT-3: the program loses no memory, without and with threads that trace. */
START_TEST(cycles_of_its_controller_leave_the_target_its_memory)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);

	type = px_helper_open(&target, "cycled");
	px_helper_do(&target, "limit", 0, 0, NULL);
	if (_i)
		ck_assert_int_eq(px_helper_do(&target, "threads", (int64_t)type, 0, NULL).a, 0);
	for (uint32_t i = 0; i < (uint32_t)CYCLES; i++) {
		trace_id_t stream = px_test_start_for(target.pid, false);
		struct px_test_event event;

		px_helper_trace(&target, type, i);
		/* Threads that trace without a pause may have overwritten it. */
		ck_assert(_i || px_test_next_number(stream, &event) == i);
		ok(posix_trace_shutdown(stream));
	}
	/*
	 * A thread that was preempted inside a trace point leaves it later.  The target looks again at the next stream.
	 */
	do {
		ok(posix_trace_shutdown(px_test_start_for(target.pid, false)));
		sleep_ms(1);
		px_helper_trace(&target, type, 0);
	} while (px_helper_do(&target, "map", 0, 0, NULL).a != 0);
	px_helper_kill(&target);
}
END_TEST

/* Writers that are inside a trace point for a long time. */

/* SHUT-10: a writer goes on long after its stream has ended, and finds no memory that it could damage. */
START_TEST(writer_inside_keeps_its_memory_while_streams_come_and_go)
{
	static const char *const points[] = {"point.state.loaded", "ring.claim.done",
					     "record.write.first", "ring.commit.ready",
					     "ring.commit.done"};
	struct px_test_writer writer = {.point = NULL};
	struct px_test_event event;
	trace_id_t stream = create();

	ok(posix_trace_start(stream));
	px_test_hold(&writer, points[_i], type, 1);
	ok(posix_trace_shutdown(stream));
	cycle_and_read(100);
	stream = create();
	ok(posix_trace_start(stream));
	px_test_trace(type, 2);
	px_test_release(&writer);
	px_test_trace(type, 3);
	px_test_expect(stream, POSIX_TRACE_START, &event);
	for (uint32_t i = 2; i <= 3; i++) {
		ck_assert_uint_eq(px_test_take(stream, &event), type);
		ck_assert_uint_eq(px_test_number(&event), i);
	}
	px_test_expect(stream, 0, &event);
	ok(posix_trace_shutdown(stream));
	expect_memory_comes_back();
}
END_TEST

/* Handlers: what they do while they interrupt a trace point of this thread. */

/* Trace deeper in the stack than later: only then it is certain that the thread has left the trace point. */
static __attribute__((noinline)) void trace_below(uint32_t number)
{
	volatile unsigned char used[2000];

	used[0] = 0;
	px_test_trace(type, number);
	used[1] = used[0];
}

static trace_id_t ended;

static void end_stream(void)
{
	px_test_trace(type, 7);
	ok(posix_trace_shutdown(ended));
	cycle_and_read(20);
}

/* SHUT-10: a handler has interrupted the writer, and does all this itself. */
START_TEST(writer_interrupted_by_the_end_of_its_stream_keeps_its_memory)
{
	static const char *const points[] = {"point.state.loaded", "record.write.first",
					     "ring.commit.ready"};

	ended = create();
	ok(posix_trace_start(ended));
	px_test_in_handler_at_point(points[_i], end_stream);
	px_test_trace(type, 1);
	expect_memory_comes_back();
}
END_TEST

/* SHUT-10: a debugger has done it, and no handler: nothing on the stack shows that the writer will go on. */
START_TEST(writer_interrupted_without_a_signal_keeps_its_memory)
{
	ended = create();
	ok(posix_trace_start(ended));
	px_test_at_point("record.write.first", end_stream);
	trace_below(1);
	expect_memory_comes_back();
}
END_TEST

static sigjmp_buf way_out;

static void jump(void)
{
	siglongjmp(way_out, 1);
}

static void jump_out(trace_id_t stream, const char *point)
{
	ok(posix_trace_start(stream));
	px_test_in_handler_at_point(point, jump);
	if (sigsetjmp(way_out, 0) == 0) {
		trace_below(1);
		ck_abort_msg("no handler jumped");
	}
}

/* SHUT-10: the thread has left the trace point for good, and goes on tracing. */
START_TEST(writer_left_by_a_jump_does_not_keep_memory)
{
	trace_id_t stream = create();

	jump_out(stream, _i ? "record.write.first" : "point.state.loaded");
	ok(posix_trace_shutdown(stream));
	expect_memory_comes_back();
}
END_TEST

static sem_t is_there, may_go;

static void wait_here(void)
{
	sem_post(&is_there);
	while (sem_wait(&may_go) != 0)
		;
}

static void *jump_and_wait_inside(void *stream)
{
	jump_out(*(trace_id_t *)stream, "record.write.first");
	px_test_at_point("record.write.first", wait_here);
	px_test_trace(type, 2);
	return NULL;
}

/*
 * SHUT-10: a thread has left a trace point, and records its next event: it is inside again, and has no note of the
 * first call.
 */
START_TEST(writer_inside_after_a_jump_keeps_its_memory)
{
	trace_id_t stream = create();
	pthread_t thread;

	sem_init(&is_there, 0, 0);
	sem_init(&may_go, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, jump_and_wait_inside, &stream), 0);
	while (sem_wait(&is_there) != 0)
		;
	ok(posix_trace_shutdown(stream));
	cycle_and_read(100);
	sem_post(&may_go);
	pthread_join(thread, NULL);
	expect_memory_comes_back();
}
END_TEST

static void *jump_and_end(void *stream)
{
	jump_out(*(trace_id_t *)stream, "record.write.first");
	return NULL;
}

/* SHUT-10: or the thread has ended since. */
START_TEST(writer_that_ended_inside_does_not_keep_memory)
{
	trace_id_t stream = create();
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, jump_and_end, &stream), 0);
	pthread_join(thread, NULL);
	ok(posix_trace_shutdown(stream));
	expect_memory_comes_back();
}
END_TEST

static int cycle_in_child(void *unused)
{
	(void)unused;
	px_test_trace(type, 3);
	expect_memory_comes_back();
	return 0;
}

static int status_of_child;

static void fork_inside(void)
{
	pid_t child = fork();

	if (child != 0)
		waitpid(child, &status_of_child, 0);
	else
		cycle(20);
}

/* SHUT-10: the child returns into the trace point, and afterwards has no stream of its parent. */
START_TEST(writer_inside_which_fork_was_called_keeps_its_memory_in_both)
{
	trace_id_t stream = create();
	pid_t us = getpid();

	ok(posix_trace_start(stream));
	px_test_in_handler_at_point("record.write.first", fork_inside);
	px_test_trace(type, 1);
	if (getpid() != us) {
		cycle_in_child(NULL);
		_exit(0);
	}
	ck_assert_int_eq(status_of_child, 0);
	ok(posix_trace_shutdown(stream));
	expect_memory_comes_back();
}
END_TEST

/* FORK-1: threads of the parent are inside a trace point at the fork, and do not exist in the child. */
START_TEST(writers_of_the_parent_keep_no_memory_in_the_child)
{
	struct px_test_writer writer = {.point = NULL};
	trace_id_t stream = create();

	ok(posix_trace_start(stream));
	px_test_hold(&writer, "record.write.first", type, 1);
	ck_assert_int_eq(px_test_in_child(cycle_in_child, NULL), 0);
	px_test_release(&writer);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static int pass_on(void *generations)
{
	int left = *(int *)generations;

	px_test_trace(type, (uint32_t)left);
	if (left-- == 0)
		return 0;
	return px_test_in_child(pass_on, &left);
}

static int limit_and_pass_on(void *generations)
{
	limit_address_space();
	return pass_on(generations);
}

/* FORK-1 FORK-2: each child maps the inherited stream itself, and frees the mapping of its parent. */
START_TEST(children_of_children_need_no_more_memory_with_time)
{
	struct px_test_event event;
	trace_attr_t attr;
	trace_id_t stream;
	int generations = 100;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ok(posix_trace_attr_setstreamsize(&attr, (size_t)1 << 20));
	ok(txtrace_attr_setrings(&attr, 1));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_start(stream));
	ck_assert_int_eq(px_test_in_child(limit_and_pass_on, &generations), 0);
	for (int i = generations; i >= 0; i--)
		ck_assert_int_eq(px_test_next_number(stream, &event), i);
	ok(posix_trace_shutdown(stream));
}
END_TEST

static const struct px_named_trick tricks[] = {
	{"limit", trick_limit},
	{"threads", trick_threads},
	{"map", trick_map},
	{"", NULL},
};

static Suite *suite(void)
{
	Suite *suite = suite_create("process/cycles");
	TCase *tcase = tcase_create("cycles");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, cycles_of_streams_need_no_more_memory_with_time);
	tcase_add_loop_test(tcase, cycles_of_its_controller_leave_the_target_its_memory, 0, 2);
	tcase_add_loop_test(tcase, writer_inside_keeps_its_memory_while_streams_come_and_go, 0, 5);
	tcase_add_loop_test(tcase, writer_interrupted_by_the_end_of_its_stream_keeps_its_memory, 0,
			    3);
	tcase_add_test(tcase, writer_interrupted_without_a_signal_keeps_its_memory);
	tcase_add_loop_test(tcase, writer_left_by_a_jump_does_not_keep_memory, 0, 2);
	tcase_add_test(tcase, writer_inside_after_a_jump_keeps_its_memory);
	tcase_add_test(tcase, writer_that_ended_inside_does_not_keep_memory);
	tcase_add_test(tcase, writer_inside_which_fork_was_called_keeps_its_memory_in_both);
	tcase_add_test(tcase, writers_of_the_parent_keep_no_memory_in_the_child);
	tcase_add_test(tcase, children_of_children_need_no_more_memory_with_time);
	tcase_add_test(tcase, threads_of_any_number_look_at_few_of_the_others);
	tcase_add_test(tcase, threads_one_after_the_other_need_no_more_memory_with_time);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(int argc, char **argv)
{
	if (px_helper_main(argc, argv, tricks))
		return 0;
	return run_suite(suite());
}
