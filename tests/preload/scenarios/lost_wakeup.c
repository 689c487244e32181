/* SPDX-License-Identifier: MIT */
/* A condition is signalled before a thread waits for it.  That thread does not check whether the event has happened. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 50000000

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static atomic_int comes;

static void *ring(void *unused)
{
	pthread_setname_np(pthread_self(), "early");
	pthread_mutex_lock(&door);
	pthread_cond_signal(&bell);
	pthread_mutex_unlock(&door);
	return unused;
}

static void *listen(void *unused)
{
	pthread_setname_np(pthread_self(), "late");
	pthread_mutex_lock(&door);
	comes = 1;
	pthread_cond_wait(&bell, &door);
	pthread_mutex_unlock(&door);
	return unused;
}

int main(void)
{
	struct timespec time = {0, PAUSE_NS};
	pthread_t early, late;

	if (pthread_create(&early, NULL, ring, NULL) != 0 || pthread_join(early, NULL) != 0 ||
	    pthread_create(&late, NULL, listen, NULL) != 0)
		return 1;
	while (!comes)
		nanosleep(&time, NULL);
	for (int i = 0; i < 6; i++)
		nanosleep(&time, NULL);
	_exit(0);
}
