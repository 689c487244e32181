/* SPDX-License-Identifier: MIT */
/*
 * A thread records that it unlocks a mutex, and sleeps before it does so.  A gap hides the record, and after the gap,
 * another thread finds the mutex locked by the first one.  The first thread then takes both mutexes in turn, but never
 * both at once.  The same again with the mutexes in the other order.  Argument: the log.
 *
 * With SLEEPS defined, this is an object to preload behind libtxtrace-preload, in which the thread sleeps.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SLEEPS
#include <dlfcn.h>

_Atomic int sleeper, has_slept; /* the tid of the thread that sleeps */

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *);
	int tid = (int)syscall(SYS_gettid);

	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	has_slept = has_slept || sleeper == tid;
	while (sleeper == tid)
		syscall(SYS_sched_yield);
	return next(mutex);
}

#else
#include <trace.h>

extern _Atomic int sleeper, has_slept;

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER, right_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int owner_tid, waiter_tid, may_unlock;
static trace_id_t trace;

static void *own(void *lock)
{
	pthread_mutex_t *first = lock, *second = first == &left_lock ? &right_lock : &left_lock;

	pthread_mutex_lock(first);
	owner_tid = (int)syscall(SYS_gettid);
	while (!may_unlock)
		syscall(SYS_sched_yield);
	pthread_mutex_unlock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_lock(first);
	pthread_mutex_unlock(first);
	return NULL;
}

static void *wait_for(void *lock)
{
	waiter_tid = (int)syscall(SYS_gettid);
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* Wait until the thread sleeps in the kernel. */
static void await_sleep(int tid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			return;
		fclose(file);
		syscall(SYS_sched_yield);
	}
}

static void hide_unlock(pthread_mutex_t *first)
{
	pthread_t owner, waiter;

	owner_tid = waiter_tid = may_unlock = has_slept = 0;
	pthread_create(&owner, NULL, own, first);
	while (!owner_tid)
		syscall(SYS_sched_yield);
	posix_trace_stop(trace);
	sleeper = owner_tid;
	may_unlock = 1;
	while (!has_slept)
		syscall(SYS_sched_yield);
	posix_trace_start(trace);
	pthread_create(&waiter, NULL, wait_for, first);
	while (!waiter_tid)
		syscall(SYS_sched_yield);
	await_sleep(waiter_tid);
	sleeper = 0;
	pthread_join(owner, NULL);
	pthread_join(waiter, NULL);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

	if (fd < 0 || posix_trace_create_withlog(0, NULL, fd, &trace) != 0 || posix_trace_start(trace) != 0)
		return 1;
	hide_unlock(&left_lock);
	hide_unlock(&right_lock);
	return posix_trace_shutdown(trace);
}
#endif
