/* SPDX-License-Identifier: MIT */
/* Four workers take one mutex in turn, and sleep while they hold it. */
#include <pthread.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t stage;
static const char *const names[] = {"worker-1", "worker-2", "worker-3", "worker-4"};

static void *work(void *name)
{
	oracle_thread(name);
	ORACLE_CALL(pthread_barrier_wait, &stage, pthread_barrier_wait(&stage));
	for (int i = 0; i < 25; i++) {
		LOCK(&table_lock);
		SLEEP_US(500);
		UNLOCK(&table_lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[4];

	oracle_thread("main");
	oracle_object(&table_lock, "table_lock");
	oracle_object(&stage, "stage");
	pthread_barrier_init(&stage, NULL, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, (void *)names[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	oracle_report();
	return 0;
}
