/* SPDX-License-Identifier: MIT */
/* Four threads take two locks in turn, but never both.  It is recorded into rings that are much too small. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER, right_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t longest_ns; /* no hold was longer */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *work(void *first)
{
	int64_t longest = 0;

	for (long i = (long)first; i < 60000; i++) {
		pthread_mutex_t *lock = i % 2 == 0 ? &left_lock : &right_lock;
		int64_t begin;

		begin = now_ns();
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
		begin = now_ns() - begin;
		longest = begin > longest ? begin : longest;
	}
	for (int64_t known = longest_ns;
	     known < longest && !atomic_compare_exchange_weak(&longest_ns, &known, longest);)
		;
	return NULL;
}

int main(void)
{
	pthread_t thread[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	oracle_longest(&left_lock, longest_ns);
	oracle_longest(&right_lock, longest_ns);
	oracle_object(&left_lock, "left_lock");
	oracle_object(&right_lock, "right_lock");
	oracle_says("info", "lost: dropped +[1-9]|lost: overwritten +[1-9]");
	oracle_says_not("locks", "potential deadlock|no danger");
	oracle_report();
	return 0;
}
