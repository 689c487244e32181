/* SPDX-License-Identifier: MIT */
/*
 * main waits for a mutex whose holder sleeps 40 times.  The holder never runs for long, and neither does main.  Then
 * main waits for another mutex, while the holder sleeps in a system call of its own, which is not traced.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER, disk_lock = PTHREAD_MUTEX_INITIALIZER;
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
	LOCK(&disk_lock);
	UNLOCK(&cache_lock);
	oracle_await_sleep("main", &disk_lock);
	syscall(SYS_nanosleep, &(struct timespec){0, 20000000}, NULL);
	oracle_wakes("main");
	UNLOCK(&disk_lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&cache_lock, "cache_lock");
	oracle_object(&disk_lock, "disk_lock");
	pthread_create(&thread, NULL, hold, NULL);
	while (!atomic_load(&is_held))
		SLEEP_US(100);
	LOCK(&cache_lock);
	UNLOCK(&cache_lock);
	LOCK(&disk_lock);
	UNLOCK(&disk_lock);
	pthread_join(thread, NULL);
	/* On a busy machine, the holder has no CPU for longer than it sleeps. */
	oracle_says("blocked --format csv -f pthread_mutex_lock", "cache_lock,holder_did,(?:usleep|had no CPU)");
	oracle_says("why main@cache_lock", "holder [0-9]+ was [0-9.]+ ms of that asleep \\(usleep\\), in 40 waits");
	oracle_says("blocked --format csv -f pthread_mutex_lock",
		    "disk_lock,holder_did,(?:~ran|was blocked|had no CPU)");
	oracle_says("why main@disk_lock",
		    "holder [0-9]+ (?:ran, was ready to run, or waited in a call that is not traced, all the time|"
		    "ran for ~[0-9.]+ [mun]?s, and was ready to run, or waited in a call that is not traced, "
		    "for ~[0-9.]+ ms|"
		    ".* was blocked for [0-9.]+ ms; the calls in which it was blocked are not traced)");
	oracle_report();
	return 0;
}
