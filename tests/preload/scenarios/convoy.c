/* SPDX-License-Identifier: MIT */
/* Four threads do little but wait for one mutex.  Each holds it only briefly. */
#include <pthread.h>
#include <time.h>

#define THREADS 4
#define TURNS 100
#define HOLD_NS 300000

static pthread_mutex_t road = PTHREAD_MUTEX_INITIALIZER;

static void *drive(void *unused)
{
	struct timespec time = {0, HOLD_NS};

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&road);
		nanosleep(&time, NULL);
		pthread_mutex_unlock(&road);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, drive, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
