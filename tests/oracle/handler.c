/* SPDX-License-Identifier: MIT */
/*
 * A signal handler waits while its thread waits for a lock.  Both waits have an end.  Another thread leaves its waits
 * by siglongjmp(): they have none.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define JUMPS 3

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int nr_handled, nr_left, leaver;
static sigjmp_buf place;

static void on_signal(int number)
{
	(void)number;
	SLEEP_US(20000);
	SLEEP_US(5000);
	atomic_fetch_add(&nr_handled, 1);
}

static void on_jump(int number)
{
	siglongjmp(place, number);
}

static void *work(void *unused)
{
	oracle_thread("worker");
	LOCK(&table_lock);
	UNLOCK(&table_lock);
	return unused;
}

/* These calls are not in the account. */
static void *leave(void *unused)
{
	if (sigsetjmp(place, 1) != 0)
		atomic_fetch_add(&nr_left, 1);
	atomic_store(&leaver, gettid());
	if (atomic_load(&nr_left) < JUMPS)
		sleep(100);
	return unused;
}

static void await(atomic_int *number, int wanted)
{
	while (atomic_load(number) < wanted)
		SLEEP_US(100);
}

int main(void)
{
	struct sigaction handled = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, jump = {.sa_handler = on_jump};
	pthread_t worker, other;

	oracle_thread("main");
	oracle_object(&table_lock, "table_lock");
	sigaction(SIGUSR1, &handled, NULL);
	sigaction(SIGUSR2, &jump, NULL);
	LOCK(&table_lock);
	pthread_create(&worker, NULL, work, NULL);
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			oracle_await_sleep("worker", &table_lock);
		pthread_kill(worker, SIGUSR1);
		await(&nr_handled, i + 1);
	}
	SLEEP_US(1000);
	UNLOCK(&table_lock);
	pthread_join(worker, NULL);

	pthread_create(&other, NULL, leave, NULL);
	for (int i = 0; i < JUMPS; i++) {
		await(&leaver, 1);
		while (!oracle_sleeps(atomic_load(&leaver)))
			SLEEP_US(100);
		pthread_kill(other, SIGUSR2);
		await(&nr_left, i + 1);
	}
	pthread_join(other, NULL);
	/* The rows of table_lock and usleep are compared with the account. */
	oracle_says("blocked", "and 3 waits whose end is missing");
	oracle_says("waits", "3 waits of the trace have no end");
	oracle_says("why worker", "worker [0-9]+ was [0-9.]+ ms waiting for (?:mutex )?table_lock");
	oracle_says("why worker", "table_lock was held by handler [0-9]+ for");
	oracle_says("why worker", "  Signal handlers interrupted this wait, and waited, too:");
	/* Twice 25 ms, or more if the machine has other work. */
	oracle_says("why worker", "    worker [0-9]+ was (?:[5-9][0-9][0-9.]*|[0-9]{3}[0-9.]*) ms of that asleep "
				  "[(]usleep[)], in 4 waits");
	oracle_report();
	return 0;
}
