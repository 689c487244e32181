/* SPDX-License-Identifier: MIT */
/* Whether a process can see that its first thread has ended.  A flush thread has to, or the process never ends. */
#ifndef PX_TESTS_SUPPORT_FIRST_THREAD_H
#define PX_TESTS_SUPPORT_FIRST_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void *px_test_look_after_the_first(void *unused)
{
	char path[40], link[1];

	snprintf(path, sizeof(path), "/proc/self/task/%d/exe", (int)getpid());
	while (readlink(path, link, 1) == 1)
		usleep(1000);
	_exit(readlink("/proc/self/exe", link, 1) == 1);
	return unused;
}

/* Return false in an emulator that makes up /proc/self/exe, and goes on when the first thread has ended. */
static inline bool px_test_sees_end_of_first_thread(void)
{
	pthread_t thread;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (pthread_create(&thread, NULL, px_test_look_after_the_first, NULL) != 0)
			_exit(2);
		syscall(SYS_exit, 0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
