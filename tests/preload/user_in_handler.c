/* SPDX-License-Identifier: MIT */
/*
 * setuid() is async-signal-safe.  The start and the end of a thread are not: they need the allocator, which the handler
 * may have interrupted.  So if a signal handler changes the user, no other thread may end or start.  This program has a
 * second thread, that of its log.  An emulator may have more; the argument is the number of all.  Exit status: 0 if a
 * change left the threads as they were.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NR_CHANGES 2000 /* the first ones may come before the other thread has run */

static void change_user(int number)
{
	(void)number;
	if (setuid(getuid()) != 0)
		_exit(99);
}

struct threads {
	int nr;
	long sum; /* of their ids */
};

static struct threads threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct threads found = {0, 0};
	struct dirent *entry;

	if (!directory)
		_exit(98);
	while ((entry = readdir(directory)))
		if (*entry->d_name != '.') {
			found.sum += strtol(entry->d_name, NULL, 10);
			found.nr++;
		}
	closedir(directory);
	return found;
}

int main(int argc, char **argv)
{
	static const struct timespec nap = {0, 1000000};
	int nr = argc > 1 ? atoi(argv[1]) : 2;

	signal(SIGUSR1, change_user);
	for (int i = 0; i < NR_CHANGES; i++) {
		struct threads before, after;

		nanosleep(&nap, NULL);
		before = threads();
		raise(SIGUSR1);
		after = threads();
		if (after.nr == nr && before.nr == nr && before.sum == after.sum)
			return 0;
	}
	return 1;
}
