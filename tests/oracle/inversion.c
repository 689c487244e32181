/* SPDX-License-Identifier: MIT */
/*
 * A priority inversion on one CPU, with the policy SCHED_FIFO.  "low" holds a mutex and wakes "high", which waits for
 * the mutex.  Then it wakes "mid", which preempts it and computes.  Prints the CPU time of mid in ns.  Exit: 77 if the
 * system does not permit the policy.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COMPUTES_NS 30000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wakes_high, wakes_mid;
static int64_t mid_ns;

static int64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *be_high(void *unused)
{
	pthread_setname_np(pthread_self(), "high");
	sem_wait(&wakes_high);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *be_mid(void *unused)
{
	int64_t begin;

	pthread_setname_np(pthread_self(), "mid");
	sem_wait(&wakes_mid);
	begin = cpu_time_ns();
	while (cpu_time_ns() < begin + COMPUTES_NS)
		;
	mid_ns = cpu_time_ns() - begin;
	return unused;
}

/* The posts wake threads that are more urgent, so each runs until it waits or ends. */
static void *be_low(void *unused)
{
	pthread_setname_np(pthread_self(), "low");
	pthread_mutex_lock(&lock);
	sem_post(&wakes_high);
	sem_post(&wakes_mid);
	pthread_mutex_unlock(&lock);
	return unused;
}

static pthread_t start(void *(*function)(void *unused), int priority)
{
	struct sched_param parameter = {.sched_priority = priority};
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &parameter);
	if (pthread_create(&thread, &attr, function, NULL) != 0)
		exit(77);
	return thread;
}

int main(void)
{
	pthread_t high, mid, low;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return 77;
	sem_init(&wakes_high, 0, 0);
	sem_init(&wakes_mid, 0, 0);
	/* Each runs until it waits before the next one begins. */
	high = start(be_high, 30);
	mid = start(be_mid, 20);
	low = start(be_low, 10);
	pthread_join(high, NULL);
	pthread_join(mid, NULL);
	pthread_join(low, NULL);
	printf("%lld\n", (long long)mid_ns);
	return 0;
}
