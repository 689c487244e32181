/* SPDX-License-Identifier: MIT */
/* Many threads that live for a moment and take one lock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define NR_THREADS 60

static pthread_mutex_t storm_lock = PTHREAD_MUTEX_INITIALIZER;
static char names[NR_THREADS][16];

static void *work(void *name)
{
	oracle_thread(name);
	for (int i = 0; i < 3; i++) {
		LOCK(&storm_lock);
		UNLOCK(&storm_lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[NR_THREADS];

	oracle_thread("main");
	oracle_object(&storm_lock, "storm_lock");
	LOCK(&storm_lock);
	for (int i = 0; i < NR_THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "storm-%d", i);
		pthread_create(&thread[i], NULL, work, names[i]);
	}
	for (int i = 0; i < NR_THREADS; i++)
		oracle_await_sleep(names[i], &storm_lock);
	SLEEP_US(1000);
	for (int i = 0; i < NR_THREADS; i++)
		oracle_wakes(names[i]);
	UNLOCK(&storm_lock);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	oracle_says("locks --format csv", "^locks,storm_lock,waiters,60");
	oracle_says("locks --format csv", "^locks,storm_lock,taken,181");
	oracle_says_not("locks", "potential deadlock");
	oracle_report();
	return 0;
}
