/* SPDX-License-Identifier: MIT */
/* Whether a process is the one that was noted, by its pid and its start time. */
#include "support/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfs.h"

#define LATER_S "boottime 86400 0"

START_TEST(another_start_time_is_another_process)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t start = px_procfs_start(pid);

	ck_assert_uint_ne(start, 0);
	ck_assert(px_procfs_is_same(pid, start));
	ck_assert(px_procfs_is_same(pid, 0));
	ck_assert(!px_procfs_is_same(pid, start + 1));
	ck_assert(px_procfs_has_word(px_procfs_word(pid, start)));
	ck_assert(!px_procfs_has_word(px_procfs_word(pid, start + 1)));
}
END_TEST

START_TEST(ended_process_is_none)
{
	pid_t child = fork();
	uint64_t start;

	if (child == 0)
		pause();
	start = px_procfs_start((uint32_t)child);
	ck_assert(px_procfs_is_same((uint32_t)child, start));
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert(!px_procfs_is_same((uint32_t)child, start));
}
END_TEST

enum { SAME = 10, OTHER, NOT_PERMITTED };

/* In a process of a time namespace whose clocks since boot are a day later than those of its parent. */
static int look_from_a_later_day(uint32_t pid, uint64_t start)
{
	int fd, status;
	pid_t child;

	if (unshare(CLONE_NEWTIME) != 0)
		return NOT_PERMITTED;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, LATER_S, sizeof(LATER_S) - 1) != sizeof(LATER_S) - 1)
		return NOT_PERMITTED;
	close(fd);
	child = fork();
	if (child == 0) {
		if (px_procfs_start(pid) == start)
			_exit(NOT_PERMITTED); /* the offset is not there */
		_exit(px_procfs_is_same(pid, start) ? SAME : OTHER);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

START_TEST(start_times_of_other_time_namespaces_are_not_compared)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t start = px_procfs_start(pid);
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(look_from_a_later_day(pid, start));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_PERMITTED) {
		px_test_skip("no right to make a time name space, or no such name space");
		return;
	}
	ck_assert_int_eq(WEXITSTATUS(status), SAME);
}
END_TEST

/* A thread that gives up a right at the second meeting. */
struct unlike {
	pthread_barrier_t meeting;
	uint32_t tid;
};

static void *give_up(void *argument)
{
	struct unlike *unlike = argument;

	unlike->tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&unlike->meeting);
	pthread_barrier_wait(&unlike->meeting);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	pthread_barrier_wait(&unlike->meeting);
	pthread_barrier_wait(&unlike->meeting);
	return NULL;
}

START_TEST(rights_of_threads_are_compared)
{
	struct unlike unlike;
	pthread_t thread;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
		px_test_skip("this process has given up that right");
		return;
	}
	ck_assert_int_eq(pthread_barrier_init(&unlike.meeting, NULL, 2), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, give_up, &unlike), 0);
	pthread_barrier_wait(&unlike.meeting);
	ck_assert(!px_procfs_has_other_rights((uint32_t)getpid()));
	ck_assert(!px_procfs_has_other_rights(unlike.tid));
	pthread_barrier_wait(&unlike.meeting);
	pthread_barrier_wait(&unlike.meeting);
	ck_assert(px_procfs_has_other_rights(unlike.tid));
	pthread_barrier_wait(&unlike.meeting);
	pthread_join(thread, NULL);
	ck_assert(px_procfs_has_other_rights(0));
	pthread_barrier_destroy(&unlike.meeting);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("procfs");
	TCase *tests = tcase_create("identity");

	tcase_add_test(tests, another_start_time_is_another_process);
	tcase_add_test(tests, ended_process_is_none);
	tcase_add_test(tests, start_times_of_other_time_namespaces_are_not_compared);
	tcase_add_test(tests, rights_of_threads_are_compared);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
