/* SPDX-License-Identifier: MIT */
/*
 * A thread records that it unlocks a mutex, and sleeps before it does so.  A gap hides the record, and after the gap,
 * another thread finds the mutex locked by the first one.  Arguments: the log, and what happens then:
 *
 *	turn	The first thread takes both mutexes in turn, but never both at once.  The same again with the mutexes
 *		in the other order.
 *	wait	The other thread gives up, and the first one waits for the second mutex until the end.  Before, a thread
 *		has taken both in the other order.
 *	again	The other thread gives up, and 200 ms later the first one takes the mutex again for a moment.
 *	kept	Nothing is hidden: the first thread has locked the first mutex before the trace begins, and keeps it.
 *		It takes the second one 20 times, and the other thread the first one while it has the second one, in
 *		vain.
 *
 * With SLEEPS defined, this is an object to preload behind libtxtrace-preload, in which the thread sleeps.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
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
static _Atomic int owner_tid, waiter_tid, may_unlock, may_go_on, nr_rounds;
static trace_id_t trace;

/* No call that the trace records. */
static void await(const _Atomic int *flag, int wanted)
{
	while (*flag < wanted)
		syscall(SYS_sched_yield);
}

static void begin_to_own(pthread_mutex_t *first)
{
	pthread_mutex_lock(first);
	owner_tid = (int)syscall(SYS_gettid);
	await(&may_unlock, 1);
}

static void *own_in_turn(void *lock)
{
	pthread_mutex_t *first = lock, *second = first == &left_lock ? &right_lock : &left_lock;

	begin_to_own(first);
	pthread_mutex_unlock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_lock(first);
	pthread_mutex_unlock(first);
	return NULL;
}

static void *own_and_wait(void *lock)
{
	begin_to_own(lock);
	pthread_mutex_unlock(lock);
	await(&may_go_on, 1);
	pthread_mutex_lock(&right_lock);
	return NULL;
}

static void *own_again(void *lock)
{
	begin_to_own(lock);
	pthread_mutex_unlock(lock);
	await(&may_go_on, 1);
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void *keep(void *lock)
{
	begin_to_own(lock);
	for (int i = 1; i <= 20; i++) {
		pthread_mutex_lock(&right_lock);
		pthread_mutex_unlock(&right_lock);
		nr_rounds = 2 * i - 1;
		await(&nr_rounds, 2 * i);
	}
	return NULL;
}

static void *wait_for(void *lock)
{
	waiter_tid = (int)syscall(SYS_gettid);
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void *try_long(void *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += until.tv_nsec >= 980000000;
	until.tv_nsec = (until.tv_nsec + 20000000) % 1000000000;
	waiter_tid = (int)syscall(SYS_gettid);
	pthread_mutex_timedlock(lock, &until);
	return NULL;
}

static void *take_both(void *unused)
{
	pthread_mutex_lock(&right_lock);
	pthread_mutex_lock(&left_lock);
	pthread_mutex_unlock(&left_lock);
	pthread_mutex_unlock(&right_lock);
	return unused;
}

static void *try_both(void *unused)
{
	for (int i = 1; i <= 20; i++) {
		await(&nr_rounds, 2 * i - 1);
		pthread_mutex_lock(&right_lock);
		pthread_mutex_trylock(&left_lock);
		try_long(&left_lock);
		pthread_mutex_unlock(&right_lock);
		nr_rounds = 2 * i;
	}
	return unused;
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

/* The owner unlocks while the trace is stopped, and sleeps. */
static void hide_unlock(pthread_t *owner, void *(*own)(void *), pthread_mutex_t *first)
{
	owner_tid = waiter_tid = may_unlock = has_slept = 0;
	pthread_create(owner, NULL, own, first);
	await(&owner_tid, 1);
	posix_trace_stop(trace);
	sleeper = owner_tid;
	may_unlock = 1;
	await(&has_slept, 1);
	posix_trace_start(trace);
}

static void run_in_turn(pthread_mutex_t *first)
{
	pthread_t owner, waiter;

	hide_unlock(&owner, own_in_turn, first);
	pthread_create(&waiter, NULL, wait_for, first);
	await(&waiter_tid, 1);
	await_sleep(waiter_tid);
	sleeper = 0;
	pthread_join(owner, NULL);
	pthread_join(waiter, NULL);
}

static void run(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, argument);
	pthread_join(thread, NULL);
}

static void run_and_wait(void)
{
	pthread_t owner;

	run(take_both, NULL);
	hide_unlock(&owner, own_and_wait, &left_lock);
	run(try_long, &left_lock);
	pthread_mutex_lock(&right_lock);
	sleeper = 0;
	may_go_on = 1;
	await_sleep(owner_tid);
}

static void run_again(void)
{
	pthread_t owner;

	hide_unlock(&owner, own_again, &left_lock);
	run(try_long, &left_lock);
	sleeper = 0;
	usleep(200000);
	may_go_on = 1;
	pthread_join(owner, NULL);
}

static void run_kept(void)
{
	pthread_t owner;

	pthread_create(&owner, NULL, keep, &left_lock);
	await(&owner_tid, 1);
	posix_trace_start(trace);
	may_unlock = 1;
	run(try_both, NULL);
	pthread_join(owner, NULL);
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

	if (fd < 0 || posix_trace_create_withlog(0, NULL, fd, &trace) != 0)
		return 1;
	if (strcmp(argv[2], "kept") == 0) {
		run_kept();
		return posix_trace_shutdown(trace);
	}
	posix_trace_start(trace);
	if (strcmp(argv[2], "turn") == 0) {
		run_in_turn(&left_lock);
		run_in_turn(&right_lock);
	} else if (strcmp(argv[2], "wait") == 0) {
		run_and_wait();
	} else {
		run_again();
	}
	return posix_trace_shutdown(trace);
}
#endif
