/* SPDX-License-Identifier: MIT */
/*
 * A program without problems: three threads take two mutexes one after the other, never both, as fast as they can.  So
 * events of waiting threads often name an owner that has already unlocked the mutex.
 */
#include <pthread.h>

#define THREADS 3
#define TURNS 20000

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&one);
		pthread_mutex_unlock(&one);
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
