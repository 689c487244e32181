/* SPDX-License-Identifier: MIT */
/* main waits for a mutex whose holder sleeps 40 times.  The holder never runs for long, and neither does main. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held;

static void *hold(void *unused)
{
	oracle_thread("holder");
	LOCK(&cache_lock);
	atomic_store(&is_held, true);
	oracle_await_sleep("main", &cache_lock);
	for (int i = 0; i < 40; i++)
		SLEEP_US(2000);
	oracle_wakes("main");
	UNLOCK(&cache_lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&cache_lock, "cache_lock");
	pthread_create(&thread, NULL, hold, NULL);
	while (!atomic_load(&is_held))
		SLEEP_US(100);
	LOCK(&cache_lock);
	UNLOCK(&cache_lock);
	pthread_join(thread, NULL);
	oracle_says("blocked --format csv -f pthread_mutex_lock", "cache_lock,,holder_did,usleep");
	oracle_says("why main@cache_lock", "holder [0-9]+ was [0-9.]+ ms of that asleep \\(usleep\\), in 40 waits");
	oracle_report();
	return 0;
}
