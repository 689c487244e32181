/* SPDX-License-Identifier: MIT */
/* A producer posts what two consumers wait for. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define ITEMS 20 /* for each consumer */

static sem_t items, room;

static void *consume(void *name)
{
	oracle_thread(name);
	for (int i = 0; i < ITEMS; i++) {
		WAIT(&items);
		POST(&room);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	oracle_thread("main");
	oracle_object(&items, "items");
	oracle_object(&room, "room");
	sem_init(&items, 0, 0);
	sem_init(&room, 0, 2);
	pthread_create(&thread[0], NULL, consume, (void *)"consumer-1");
	pthread_create(&thread[1], NULL, consume, (void *)"consumer-2");
	oracle_await_sleep("consumer-1", &items);
	oracle_await_sleep("consumer-2", &items);
	SLEEP_US(2000);
	oracle_wakes("consumer-1");
	oracle_wakes("consumer-2");
	for (int i = 0; i < 2 * ITEMS; i++) {
		WAIT(&room);
		POST(&items);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	oracle_says_not("why", "held");
	oracle_report();
	return 0;
}
