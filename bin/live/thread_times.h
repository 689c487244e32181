/* SPDX-License-Identifier: MIT */
/* The times that the kernel counts for each thread of a process, also where it reports no switches. */
#ifndef TXTRACE_LIVE_THREAD_TIMES_H
#define TXTRACE_LIVE_THREAD_TIMES_H

#include <stdint.h>
#include <sys/types.h>

struct thread_times {
	pid_t tid;
	char name[16];
	int64_t ran_ns, ready_ns; /* since the thread began: on a CPU, and ready without one */
};

/*
 * Call take() for each thread of the process.  Return the number of threads, or 0 if the kernel does not count these
 * times, or the process has ended.
 */
unsigned int thread_times_read(pid_t pid, void (*take)(void *arg, const struct thread_times *times), void *arg);

#endif
