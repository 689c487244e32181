/* SPDX-License-Identifier: MIT */
/* Two consumers wait at a condition for items that main puts into a queue. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_ready = PTHREAD_COND_INITIALIZER;
static int nr_items;
static bool is_over;

static void *consume(void *name)
{
	oracle_thread(name);
	LOCK(&queue_lock);
	while (!is_over || nr_items > 0) {
		if (nr_items > 0)
			nr_items--;
		else
			ORACLE_CALL(pthread_cond_wait, &queue_ready, pthread_cond_wait(&queue_ready, &queue_lock));
	}
	UNLOCK(&queue_lock);
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	oracle_thread("main");
	oracle_object(&queue_lock, "queue_lock");
	oracle_object(&queue_ready, "queue_ready");
	pthread_create(&thread[0], NULL, consume, (void *)"consumer-1");
	pthread_create(&thread[1], NULL, consume, (void *)"consumer-2");
	oracle_await_sleep("consumer-1", &queue_ready);
	oracle_await_sleep("consumer-2", &queue_ready);
	for (int i = 0; i < 10; i++) {
		SLEEP_US(1000);
		LOCK(&queue_lock);
		nr_items++;
		ORACLE_CALL(pthread_cond_signal, &queue_ready, pthread_cond_signal(&queue_ready));
		UNLOCK(&queue_lock);
	}
	LOCK(&queue_lock);
	is_over = true;
	ORACLE_CALL(pthread_cond_broadcast, &queue_ready, pthread_cond_broadcast(&queue_ready));
	UNLOCK(&queue_lock);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	oracle_says("blocked --by site --format csv", "^idle_pools,queue_ready,");
	oracle_says_not("locks", "potential deadlock");
	oracle_report();
	return 0;
}
