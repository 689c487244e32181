/* SPDX-License-Identifier: MIT */
/*
 * Stops the process that started it, calls pthread_mutex_lock() and pthread_mutex_unlock() as often as its argument
 * says, and lets that process go on: so the recorder writes nothing to the log during these calls.  With a second
 * argument, it kills that process instead.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static pthread_mutex_t burst_lock = PTHREAD_MUTEX_INITIALIZER;
	long nr = argc > 1 ? atol(argv[1]) : 0;

	if (kill(getppid(), SIGSTOP) != 0)
		return 1;
	for (long i = 0; i < nr; i++) {
		pthread_mutex_lock(&burst_lock);
		pthread_mutex_unlock(&burst_lock);
	}
	return kill(getppid(), argc > 2 ? SIGKILL : SIGCONT) != 0;
}
