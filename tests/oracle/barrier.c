/* SPDX-License-Identifier: MIT */
/* Three threads meet at a barrier; the last one arrives when the others sleep. */
#include <pthread.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_barrier_t stage;

#define MEET() ORACLE_CALL(pthread_barrier_wait, &stage, pthread_barrier_wait(&stage))

static void *meet(void *name)
{
	oracle_thread(name);
	for (int i = 0; i < 5; i++)
		MEET();
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	oracle_thread("main");
	oracle_object(&stage, "stage");
	pthread_barrier_init(&stage, NULL, 3);
	pthread_create(&thread[0], NULL, meet, (void *)"early-1");
	pthread_create(&thread[1], NULL, meet, (void *)"early-2");
	for (int i = 0; i < 5; i++) {
		oracle_await_sleep("early-1", &stage);
		oracle_await_sleep("early-2", &stage);
		SLEEP_US(1000);
		oracle_wakes("early-1");
		oracle_wakes("early-2");
		MEET();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	oracle_says("why early-1@stage", "\\S+ [0-9]+ let early-1 [0-9]+ go on: pthread_barrier_wait");
	oracle_says_not("why early-1@stage", "No thread");
	oracle_says_not("blocked --by site --format csv", "^idle_pools,");
	oracle_report();
	return 0;
}
