/* SPDX-License-Identifier: MIT */
/*
 * Threads that do not return from a call: cancelled while they wait, cancelled where they need not wait, and by
 * pthread_exit() in a routine for pthread_once().  Print which cleanup handlers ran, and the state of the objects
 * afterwards.
 */
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t mtx;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT;
static sem_t empty, full;
static int stage;

#define TEXT(text) ((void *)(uintptr_t)(text))

static void say(const char *what, int number)
{
	printf("%s: %d\n", what, number);
}

static void on_unwinding(void *what)
{
	say(what, 1);
}

static void unlock(void *what)
{
	say(what, pthread_mutex_unlock(&mutex));
}

static void wait_for_stage(int value)
{
	const struct timespec time = {0, 1000000};

	while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != value)
		syscall(SYS_nanosleep, &time, NULL);
}

static void set_stage(int value)
{
	__atomic_store_n(&stage, value, __ATOMIC_RELEASE);
}

static void *wait_cond(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, TEXT("cond: the handler unlocks"));
	set_stage(1);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static void *wait_sem(void *unused)
{
	pthread_cleanup_push(on_unwinding, TEXT("sem: unwound"));
	set_stage(1);
	sem_wait(&empty);
	pthread_cleanup_pop(0);
	return unused;
}

static void *sleep_long(void *unused)
{
	const struct timespec time = {30, 0};

	pthread_cleanup_push(on_unwinding, TEXT("nanosleep: unwound"));
	set_stage(1);
	nanosleep(&time, NULL);
	pthread_cleanup_pop(0);
	return unused;
}

static void *pause_long(void *unused)
{
	pthread_cleanup_push(on_unwinding, TEXT("pause: unwound"));
	set_stage(1);
	pause();
	pthread_cleanup_pop(0);
	return unused;
}

/* A thread is cancelled in sem_wait() even if the semaphore is free. */
static void *take_sem(void *unused)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	set_stage(1);
	wait_for_stage(2);
	pthread_setcancelstate(state, &state);
	pthread_cleanup_push(on_unwinding, TEXT("full sem: unwound"));
	sem_wait(&full);
	pthread_cleanup_pop(0);
	return unused;
}

/* With a clock and a deadline, the C library decides. */
static void *take_sem_in_time(void *unused)
{
	struct timespec time;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	set_stage(1);
	wait_for_stage(2);
	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += 10;
	pthread_setcancelstate(state, &state);
	pthread_cleanup_push(on_unwinding, TEXT("full sem in time: unwound"));
	if (sem_clockwait(&full, CLOCK_MONOTONIC, &time) == 0)
		sem_post(&full);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cleanup_pop(0);
	return unused;
}

static void leave(void)
{
	pthread_exit((void *)7);
}

static void arrive(void)
{
	say("once: runs for the second one", 1);
}

static void *leave_once(void *unused)
{
	pthread_cleanup_push(on_unwinding, TEXT("once: unwound"));
	pthread_once(&once, leave);
	pthread_cleanup_pop(0);
	return unused;
}

/* The same for C11, which has no cancellation. */

static void unlock_mtx(void *what)
{
	say(what, mtx_unlock(&mtx));
}

static void *wait_cnd(void *unused)
{
	mtx_lock(&mtx);
	pthread_cleanup_push(unlock_mtx, TEXT("cnd: the handler unlocks"));
	set_stage(1);
	for (;;)
		cnd_wait(&cnd, &mtx);
	pthread_cleanup_pop(1);
	return unused;
}

static void *sleep_thrd(void *unused)
{
	const struct timespec time = {30, 0};

	pthread_cleanup_push(on_unwinding, TEXT("thrd_sleep: unwound"));
	set_stage(1);
	thrd_sleep(&time, NULL);
	pthread_cleanup_pop(0);
	return unused;
}

static int pause_thrd(void *unused)
{
	pause();
	return unused != NULL;
}

static thrd_t paused;

static void *join_thrd(void *unused)
{
	pthread_cleanup_push(on_unwinding, TEXT("thrd_join: unwound"));
	set_stage(1);
	thrd_join(paused, NULL);
	pthread_cleanup_pop(0);
	return unused;
}

static void leave_thrd(void)
{
	thrd_exit(8);
}

static int leave_call(void *unused)
{
	pthread_cleanup_push(on_unwinding, TEXT("call_once: unwound"));
	call_once(&flag, leave_thrd);
	pthread_cleanup_pop(0);
	return unused != NULL;
}

static void arrive_call(void)
{
	say("call_once: runs for the second one", 1);
}

/* The thread may be cancelled before it waits, or while it waits; both are right. */
static void cancel_in(const char *what, void *(*function)(void *), bool is_asleep)
{
	const struct timespec time = {0, 20000000};
	pthread_t thread;
	void *result;

	set_stage(0);
	if (pthread_create(&thread, NULL, function, NULL) != 0)
		abort();
	wait_for_stage(1);
	if (is_asleep)
		syscall(SYS_nanosleep, &time, NULL);
	pthread_cancel(thread);
	set_stage(2);
	pthread_join(thread, &result);
	say(what, result == PTHREAD_CANCELED);
}

int main(void)
{
	pthread_t thread;
	thrd_t leaver;
	void *result;
	int value;

	sem_init(&empty, 0, 0);
	sem_init(&full, 0, 1);
	cancel_in("cond: cancelled", wait_cond, true);
	cancel_in("sem: cancelled", wait_sem, true);
	cancel_in("nanosleep: cancelled", sleep_long, true);
	cancel_in("pause: cancelled", pause_long, true);
	cancel_in("full sem: cancelled", take_sem, false);
	cancel_in("full sem in time: cancelled", take_sem_in_time, false);
	if (pthread_create(&thread, NULL, leave_once, NULL) != 0)
		abort();
	pthread_join(thread, &result);
	say("once: left", result == (void *)7);
	pthread_once(&once, arrive);
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	cancel_in("cnd: cancelled", wait_cnd, true);
	cancel_in("thrd_sleep: cancelled", sleep_thrd, true);
	if (thrd_create(&paused, pause_thrd, NULL) != thrd_success)
		abort();
	cancel_in("thrd_join: cancelled", join_thrd, true);
	pthread_cancel(paused);
	say("a thread of C11 that is cancelled", thrd_join(paused, &value));
	say("its result", value);
	if (thrd_create(&leaver, leave_call, NULL) != thrd_success)
		abort();
	thrd_join(leaver, &value);
	say("call_once: left", value);
	call_once(&flag, arrive_call);
	say("the mutex of C11 is free", mtx_trylock(&mtx));
	say("the mutex is free", pthread_mutex_trylock(&mutex));
	sem_getvalue(&full, &value);
	say("the semaphore has", value);
	return 0;
}
