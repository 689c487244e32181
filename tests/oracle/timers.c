/* SPDX-License-Identifier: MIT */
/* Sleeps of several kinds, and waits that end with a timeout. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

static sem_t never;
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;

static struct timespec in_ms(int ms)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += ms * 1000000L;
	at.tv_sec += at.tv_nsec / 1000000000L;
	at.tv_nsec %= 1000000000L;
	return at;
}

static void *hold(void *unused)
{
	oracle_thread("holder");
	LOCK(&busy_lock);
	WAIT(&never);
	UNLOCK(&busy_lock);
	return unused;
}

int main(void)
{
	static const struct timespec ms = {0, 1000000};
	struct timespec until;
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&never, "never");
	oracle_object(&busy_lock, "busy_lock");
	sem_init(&never, 0, 0);
	for (int i = 0; i < 5; i++) {
		SLEEP_US(1000);
		ORACLE_CALL(nanosleep, NULL, nanosleep(&ms, NULL));
		ORACLE_CALL(clock_nanosleep, NULL, clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL));
		ORACLE_CALL(poll, NULL, poll(NULL, 0, 1));
		until = in_ms(2);
		ORACLE_CALL(sem_timedwait, &never, sem_timedwait(&never, &until));
	}
	pthread_create(&thread, NULL, hold, NULL);
	oracle_await_sleep("holder", &never);
	until = in_ms(5);
	ORACLE_CALL(pthread_mutex_timedlock, &busy_lock, pthread_mutex_timedlock(&busy_lock, &until));
	oracle_wakes("holder");
	POST(&never);
	pthread_join(thread, NULL);
	oracle_says("locks --format csv", "^locks,busy_lock,contended,1");
	oracle_says("locks --format csv", "^locks,busy_lock,taken,1");
	oracle_says("locks --format csv", "^locks,busy_lock,percent,50.00");
	oracle_report();
	return 0;
}
