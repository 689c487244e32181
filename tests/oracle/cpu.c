/* SPDX-License-Identifier: MIT */
/*
 * One thread computes and makes short calls on one CPU, while another thread sleeps in turns.  Each knows how long it
 * ran at least and at most.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define CALLS 900
#define SLEEPS 20
#define OTHER_EVENTS 100 /* events of other threads: at most two for each sleep, and some of main */

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t computed_ns; /* at least */

static int64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void use_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int compare(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/*
 * The time between two events on a CPU belongs to the thread of the first event.  So this thread certainly gets the
 * time between two of its own events.  If another thread has an event between them, this thread may lose what it
 * computed there: so the largest of these times do not count.
 */
static void *compute(void *unused)
{
	static int64_t part[CALLS];
	int64_t before;

	oracle_thread("computer");
	use_one_cpu();
	LOCK(&own_lock);
	before = cpu_time();
	UNLOCK(&own_lock);
	for (int i = 0; i < CALLS; i++) {
		int64_t now;

		while (cpu_time() - before < 50000)
			;
		LOCK(&own_lock);
		UNLOCK(&own_lock);
		now = cpu_time();
		part[i] = now - before;
		before = now;
	}
	qsort(part, CALLS, sizeof(part[0]), compare);
	for (int i = 0; i < CALLS - OTHER_EVENTS; i++)
		computed_ns += part[i];
	return unused;
}

static void *doze(void *unused)
{
	oracle_thread("sleeper");
	for (int i = 0; i < SLEEPS; i++)
		SLEEP_US(2000);
	return unused;
}

int main(void)
{
	pthread_t computer, sleeper;
	int64_t begin, ns;

	oracle_thread("main");
	begin = oracle_now();
	pthread_create(&computer, NULL, compute, NULL);
	pthread_create(&sleeper, NULL, doze, NULL);
	pthread_join(computer, NULL);
	pthread_join(sleeper, NULL);
	ns = oracle_now() - begin;
	oracle_ran("computer", computed_ns, ns);
	oracle_ran("sleeper", 0, ns - SLEEPS * 2000000LL); /* usleep() never returns earlier */
	oracle_report();
	return 0;
}
