/* SPDX-License-Identifier: MIT */
/* What can happen to a blocking read: an exit, a filter of system calls, signals. */
#include "support/common.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/futex_waitv.h"

static trace_event_id_t type;
static trace_id_t stream;

static void setup(void)
{
	ok(posix_trace_eventid_open("awaited", &type));
	stream = px_test_create(&(struct px_test_stream){.nr_rings = 1, .size = 65536});
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	posix_trace_shutdown(stream);
}

static int wait_for_event(const struct timespec *abstime)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;

	if (!abstime)
		return posix_trace_getnext_event(stream, &info, NULL, 0, &length, &unavailable);
	return posix_trace_timedgetnext_event(stream, &info, NULL, 0, &length, &unavailable,
					      abstime);
}

/* Return the exit status of a child; kill the child if it takes too long. */
static int status_of(pid_t child)
{
	int status, result = 0;

	for (int i = 0; i < 5000 && (result = waitpid(child, &status, WNOHANG)) == 0; i++)
		sleep_ms(1);
	if (result == 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	return status;
}

/* A handler in the reading thread calls exit(). */

static void exit_now(int signal)
{
	(void)signal;
	px_test_forgive_leaks(); /* threads that still read the stream find its memory */
	exit(7);
}

static void raise_here(void)
{
	raise(SIGUSR1);
}

/* While it sleeps, and while it holds the lock of the stream. */
static int exit_while_reading(const char *point)
{
	const struct itimerval soon = {.it_value = {0, 20000}};

	setup(); /* a stream of its own */
	signal(SIGUSR1, exit_now);
	signal(SIGALRM, exit_now);
	if (point)
		px_test_at_point(point, raise_here);
	else
		setitimer(ITIMER_REAL, &soon, NULL);
	return wait_for_event(NULL);
}

static const char *const exit_points[] = {NULL, "reader.snapshot.taken"};

/* EXIT-1 EXIT-8 SHUT-11: the destructor does not wait for other threads, because one of them may be its own thread. */
START_TEST(exit_in_a_handler_of_a_reader_ends_the_process)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(exit_while_reading(exit_points[_i]));
	status = status_of(child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

static struct timespec in_ms(uint64_t ms)
{
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = px_test_ns(now) + ms * 1000000;
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static void *start_soon(void *unused)
{
	sleep_ms(100);
	posix_trace_start(stream);
	return unused;
}

static const struct {
	unsigned int call, error;
} forbidden[] = {
	{SYS_futex_waitv, EPERM},
	{SYS_futex_waitv, ENOSYS},
	{SYS_membarrier, EPERM},
};

static void ignore(int unused)
{
	(void)unused;
}

static int wait_filtered(int i)
{
	const struct sigaction restart = {.sa_handler = ignore, .sa_flags = SA_RESTART};
	const struct itimerval soon = {.it_value = {0, 50000}};
	struct timespec deadline, used;
	pthread_t starter;

	setup();
	if (!px_test_filter(forbidden[i].call, SECCOMP_RET_ERRNO | forbidden[i].error))
		return 77;
	deadline = in_ms(300);
	if (wait_for_event(&deadline) != ETIMEDOUT)
		return 1;
	pthread_create(&starter, NULL, start_soon, NULL);
	/* GEN-13: old kernels also restart a wait without a deadline. */
	sigaction(SIGALRM, &restart, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	if (wait_for_event(NULL) != 0)
		return 2;
	pthread_join(starter, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return px_test_ns(used) < 150000000 ? 0 : 3;
}

/* GETNEXT-2 TIMED-2 TIMED-9 */
START_TEST(getnext_where_system_calls_are_refused_still_sleeps)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(wait_filtered(_i));
	status = status_of(child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		px_test_skip("no right to filter system calls");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static int nr_sleeps;

static void count_sleeps(const char *name)
{
	nr_sleeps += strcmp(name, "wait.sleep.begin") == 0;
}

/* GETNEXT-12: a handler between two sleeps must end the wait, too. */
START_TEST(getnext_without_event_sleeps_once)
{
	const struct timespec deadline = in_ms(300);

	__atomic_store_n(&px_testpoint_hook, count_sleeps, __ATOMIC_RELEASE);
	fails(wait_for_event(&deadline), ETIMEDOUT);
	ck_assert_int_eq(nr_sleeps, 1);
}
END_TEST

static void *read_numbers(void *sum)
{
	struct posix_trace_event_info info;
	uint32_t number;
	int unavailable;
	size_t length;

	while (posix_trace_getnext_event(stream, &info, &number, sizeof(number), &length,
					 &unavailable) == 0)
		if (info.posix_event_id == type)
			__atomic_fetch_add((uint32_t *)sum, number, __ATOMIC_RELAXED);
	return NULL;
}

/* GETNEXT-2: if a writer dies before it wakes the reader, the next writer wakes it. */
START_TEST(getnext_behind_a_writer_gone_before_its_wake_is_woken_by_the_next)
{
	struct px_test_writer writer;
	uint32_t sum = 0;
	pthread_t reader;

	ok(posix_trace_start(stream));
	pthread_create(&reader, NULL, read_numbers, &sum);
	sleep_ms(50);
	px_test_hold(&writer, "ring.commit.done", type, 3);
	px_test_trace(type, 4);
	for (int i = 0; i < 5000 && __atomic_load_n(&sum, __ATOMIC_RELAXED) != 7; i++)
		sleep_ms(1);
	ck_assert_uint_eq(__atomic_load_n(&sum, __ATOMIC_RELAXED), 7);
	px_test_release(&writer);
	ok(posix_trace_shutdown(stream));
	pthread_join(reader, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wakeup");
	TCase *tcase = tcase_create("ends");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, exit_in_a_handler_of_a_reader_ends_the_process, 0,
			    PX_ARRAY_SIZE(exit_points));
	tcase_add_loop_test(tcase, getnext_where_system_calls_are_refused_still_sleeps, 0,
			    PX_ARRAY_SIZE(forbidden));
	tcase_add_test(tcase, getnext_without_event_sleeps_once);
	tcase_add_test(tcase,
		       getnext_behind_a_writer_gone_before_its_wake_is_woken_by_the_next);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
