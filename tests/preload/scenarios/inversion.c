/* SPDX-License-Identifier: MIT */
/*
 * On one CPU, under SCHED_FIFO: a thread of high priority waits for a mutex of a thread of low priority.  That thread
 * does not run, because a third one does.  Exit with 77 if the process may not use this policy.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define LOW 10
#define MIDDLE 20
#define HIGH 30
#define DIRECTOR 40
#define STEP_NS 5000000
#define SKIP 77

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

/* However slow the machine is: low has the mutex, and it has it until the third thread is there. */
static atomic_bool low_has_lock, middle_comes;

static long long cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void work(long long ns)
{
	for (long long end = cpu_ns() + ns; cpu_ns() < end;)
		;
}

static void *run_low(void *unused)
{
	pthread_setname_np(pthread_self(), "low");
	pthread_mutex_lock(&lock);
	low_has_lock = true;
	while (!middle_comes)
		;
	work(4 * STEP_NS);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *run_middle(void *unused)
{
	pthread_setname_np(pthread_self(), "middle");
	for (int i = 0; i < 4; i++) {
		work(STEP_NS);
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	}
	return unused;
}

static void *run_high(void *unused)
{
	pthread_setname_np(pthread_self(), "high");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static int start(pthread_t *thread, void *(*run)(void *), int priority)
{
	struct sched_param param = {.sched_priority = priority};
	struct timespec step = {0, STEP_NS};
	pthread_attr_t attr;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	error = pthread_create(thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	nanosleep(&step, NULL);
	return error;
}

static void *direct(void *unused)
{
	struct timespec step = {0, STEP_NS};
	pthread_t threads[3];

	if (start(&threads[0], run_low, LOW) != 0)
		return &lock;
	while (!low_has_lock)
		nanosleep(&step, NULL);
	if (start(&threads[1], run_high, HIGH) != 0)
		return &lock;
	middle_comes = true;
	if (start(&threads[2], run_middle, MIDDLE) != 0)
		return &lock;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return unused;
}

int main(void)
{
	pthread_t director;
	void *result;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0, taken = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set) && taken++ > 0)
			CPU_CLR(cpu, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set) != 0 || start(&director, direct, DIRECTOR) != 0)
		return SKIP;
	return pthread_join(director, &result) != 0 || result;
}
