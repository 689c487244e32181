/* SPDX-License-Identifier: MIT */
/* Two threads, each on its own CPU, work and sleep in turn.  They know how long they certainly worked. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define ROUNDS 6
#define STEPS 20
#define STEP_NS 500000

struct worker {
	const char *name;
	int cpu;
	unsigned int sleep_us;
	pthread_mutex_t own;
};

/* The calls show which thread runs. */
static void step(pthread_mutex_t *own)
{
	LOCK(own);
	UNLOCK(own);
	oracle_work(STEP_NS);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	cpu_set_t set;

	oracle_thread(worker->name);
	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	LOCK(&worker->own);
	UNLOCK(&worker->own);
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < STEPS; j++)
			step(&worker->own);
		SLEEP_US(worker->sleep_us);
	}
	LOCK(&worker->own);
	UNLOCK(&worker->own);
	return NULL;
}

/* Return the number of the next CPU after this one that the program may use, or this one if there is none. */
static int cpu_after(int cpu)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = cpu + 1; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			return i;
	return cpu;
}

int main(void)
{
	static struct worker one = {"one", 0, 5000, PTHREAD_MUTEX_INITIALIZER};
	static struct worker other = {"other", 0, 15000, PTHREAD_MUTEX_INITIALIZER};
	pthread_t thread[2];

	oracle_thread("main");
	one.cpu = cpu_after(-1);
	other.cpu = cpu_after(one.cpu);
	pthread_create(&thread[0], NULL, work, &one);
	/* With a single CPU the two take turns without an event, and no event shows which one runs. */
	if (other.cpu == one.cpu)
		pthread_join(thread[0], NULL);
	pthread_create(&thread[1], NULL, work, &other);
	if (other.cpu != one.cpu)
		pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	oracle_report();
	return 0;
}
