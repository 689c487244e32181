/* SPDX-License-Identifier: MIT */
/* Two threads wait for each other for ever, and a third one for one of them. */
#include <pthread.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t user_lock = PTHREAD_MUTEX_INITIALIZER, file_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *first(void *unused)
{
	oracle_thread("first");
	LOCK(&user_lock);
	pthread_barrier_wait(&both);
	LOCK(&file_lock);
	return unused;
}

static void *second(void *unused)
{
	oracle_thread("second");
	LOCK(&file_lock);
	pthread_barrier_wait(&both);
	LOCK(&user_lock);
	return unused;
}

static void *third(void *unused)
{
	oracle_thread("third");
	SLEEP_US(50000); /* this is longer than its last wait */
	LOCK(&user_lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&user_lock, "user_lock");
	oracle_object(&file_lock, "file_lock");
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, first, NULL);
	pthread_create(&thread, NULL, second, NULL);
	oracle_await_sleep("first", &file_lock);
	oracle_await_sleep("second", &user_lock);
	pthread_create(&thread, NULL, third, NULL);
	oracle_await_sleep("third", &user_lock);
	oracle_says("why", "Deadlock: none of these threads can continue\\.");
	oracle_says("why third", "waiting for mutex user_lock");
	oracle_says("why third", "Deadlock: none of these threads can continue\\.");
	oracle_says("locks", "potential deadlock");
	oracle_says("locks --format csv", "^locks,user_lock,contended,2");
	oracle_says("locks --format csv", "^locks,file_lock,contended,1");
	oracle_says("locks --format csv", "^locks,user_lock,percent,66\\.67");
	oracle_report();
	return 0;
}
