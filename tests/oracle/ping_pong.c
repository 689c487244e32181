/* SPDX-License-Identifier: MIT */
/* Two threads let each other go on in turn: on any CPUs, or with ONE_CPU on the same CPU. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define ROUNDS 50

static sem_t ping, pong;

static void *answer(void *unused)
{
	oracle_thread("pong");
	for (int i = 0; i < ROUNDS; i++) {
		WAIT(&ping);
		if (i == ROUNDS / 2) {
			oracle_await_sleep("main", &pong);
			oracle_wakes("main");
		}
		POST(&pong);
	}
	return unused;
}

#ifdef ONE_CPU
#define PROGRAM "one_cpu"

static void choose_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
#else
#define PROGRAM "ping_pong"

static void choose_cpu(void)
{
}
#endif

int main(void)
{
	pthread_t thread;

	choose_cpu();
	oracle_thread("main");
	oracle_object(&ping, "ping");
	oracle_object(&pong, "pong");
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pthread_create(&thread, NULL, answer, NULL);
	oracle_await_sleep("pong", &ping);
	SLEEP_US(20000);
	oracle_wakes("pong");
	for (int i = 0; i < ROUNDS; i++) {
		POST(&ping);
		WAIT(&pong);
	}
	pthread_join(thread, NULL);
	oracle_says("why pong@ping", PROGRAM " [0-9]+ let pong [0-9]+ go on: sem_post");
	oracle_report();
	return 0;
}
