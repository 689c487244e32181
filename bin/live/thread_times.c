/* SPDX-License-Identifier: MIT */
#include "live/thread_times.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_line(pid_t pid, pid_t tid, const char *name, char *line, int size)
{
	char path[64];
	FILE *file;
	bool is_fine;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	file = fopen(path, "re");
	is_fine = file && fgets(line, size, file);
	if (file)
		fclose(file);
	return is_fine;
}

static bool read_thread(pid_t pid, struct thread_times *times)
{
	char line[128];
	unsigned long long ran_ns, ready_ns;

	if (!read_line(pid, times->tid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%llu %llu", &ran_ns, &ready_ns) != 2)
		return false;
	times->ran_ns = (int64_t)ran_ns;
	times->ready_ns = (int64_t)ready_ns;
	if (!read_line(pid, times->tid, "comm", times->name, sizeof(times->name)))
		times->name[0] = '\0';
	times->name[strcspn(times->name, "\n")] = '\0';
	return true;
}

unsigned int thread_times_read(pid_t pid, void (*take)(void *arg, const struct thread_times *times), void *arg)
{
	char path[64];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		struct thread_times times = {.tid = (pid_t)strtol(entry->d_name, NULL, 10)};

		if (times.tid <= 0 || !read_thread(pid, &times))
			continue;
		take(arg, &times);
		nr++;
	}
	if (directory)
		closedir(directory);
	return nr;
}
