/* SPDX-License-Identifier: MIT */
/* Two threads take two mutexes in different orders, and block each other.  The program ends itself. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 50000000

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static atomic_int nr_have_one;

static void pause_for(long ns)
{
	struct timespec time = {0, ns};

	nanosleep(&time, NULL);
}

/* It does not matter how long the other thread takes to begin. */
static void await_both(void)
{
	do {
		pause_for(PAUSE_NS);
	} while (nr_have_one < 2);
}

static void take_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_mutex_lock(one);
	nr_have_one++;
	await_both();
	pthread_mutex_lock(other);
}

static void *go_left(void *unused)
{
	pthread_setname_np(pthread_self(), "left");
	take_both(&first, &second);
	return unused;
}

static void *go_right(void *unused)
{
	pthread_setname_np(pthread_self(), "right");
	take_both(&second, &first);
	return unused;
}

int main(void)
{
	pthread_t left, right;

	if (pthread_create(&left, NULL, go_left, NULL) != 0 ||
	    pthread_create(&right, NULL, go_right, NULL) != 0)
		return 1;
	await_both();
	pause_for(6 * PAUSE_NS);
	_exit(0);
}
