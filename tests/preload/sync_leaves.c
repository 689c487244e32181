/* SPDX-License-Identifier: MIT */
/*
 * Threads that leave a call otherwise than by its return: cancelled while they wait, cancelled where they need not
 * wait, and by pthread_exit() out of a routine that is run once.  Says which cleanup handlers ran, and what the objects
 * are like afterwards.
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
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
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

/* A semaphore that is there to be had is where a thread is cancelled all the same. */
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

/* With a clock and a deadline, it is as the C library has it. */
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

/* It may be cancelled on its way into the wait, or in it: it does not matter which. */
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
	say("the mutex is free", pthread_mutex_trylock(&mutex));
	sem_getvalue(&full, &value);
	say("the semaphore has", value);
	return 0;
}
