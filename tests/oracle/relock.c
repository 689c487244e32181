/* SPDX-License-Identifier: MIT */
/* A thread locks its own mutex again. */
#include <pthread.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
	oracle_thread("worker");
	LOCK(&log_lock);
	LOCK(&log_lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&log_lock, "log_lock");
	pthread_create(&thread, NULL, work, NULL);
	oracle_await_sleep("worker", &log_lock);
	SLEEP_US(1000);
	oracle_says("why", "worker [0-9]+ itself held mutex log_lock; it took it at [0-9.]+ s");
	oracle_says("why worker", "can never continue");
	oracle_says("blocked --format csv", "^blocked,log_lock,holder,worker [0-9]+");
	oracle_says("blocked --format csv", "^blocked,log_lock,holder_did,waited for its own lock");
	oracle_report();
	return 0;
}
