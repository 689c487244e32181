/* SPDX-License-Identifier: MIT */
/*
 * setuid() is async-signal-safe.  The begin and the end of a thread are not: they need the allocator, which the handler
 * may have interrupted.  So if a signal handler changes the user, no other thread may end or begin.  Exit status: 0 if
 * the last of several changes left the threads as they were.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NR_CHANGES 20 /* the first ones may come before another thread of the process has run */

static void change_user(int number)
{
	(void)number;
	if (setuid(getuid()) != 0)
		_exit(99);
}

/* The sum of the ids of all threads. */
static long threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	long sum = 0;

	if (!directory)
		_exit(98);
	while ((entry = readdir(directory)))
		sum += strtol(entry->d_name, NULL, 10);
	closedir(directory);
	return sum;
}

int main(void)
{
	static const struct timespec nap = {0, 10000000};
	long before = 0, after = 0;

	signal(SIGUSR1, change_user);
	for (int i = 0; i < NR_CHANGES; i++) {
		nanosleep(&nap, NULL);
		before = threads();
		raise(SIGUSR1);
		after = threads();
	}
	return before != after;
}
