/* SPDX-License-Identifier: MIT */
#include "live/ring_bound.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TOGETHER_MOST (UINT64_C(1) << 30)
#define PART 8		/* rings may use 1 / PART of the memory and of a limit */
#define SLOT_BYTES 48	/* size of a ring, divided by the number of its slots */
#define MEMORY_BYTES 80 /* memory for each slot */

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return the number in the line of this file that begins with this text, or UINT64_MAX if there is none. */
static uint64_t read_number(const char *path, const char *before)
{
	FILE *file = fopen(path, "re");
	const size_t length = strlen(before);
	uint64_t number = UINT64_MAX;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, before, length) != 0)
			continue;
		if (sscanf(line + length, "%" SCNu64, &number) == 1)
			break;
	}
	if (file)
		fclose(file);
	return number;
}

static uint64_t part_of_limit(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ?
		       limit.rlim_cur / PART :
		       UINT64_MAX;
}

/* Return half of the room in the directory for shared memory. */
static uint64_t room_for_files(void)
{
	const char *directory = getenv("TXTRACE_DIR");
	struct statvfs status;

	if ((!directory || statvfs(directory, &status) != 0) && statvfs("/dev/shm", &status) != 0)
		return 0;
	return (uint64_t)status.f_bavail * status.f_frsize / 2;
}

size_t ring_bound(size_t least)
{
	uint64_t kib = read_number("/proc/meminfo", "MemAvailable:");
	uint64_t in_container = read_number("/sys/fs/cgroup/memory.max", "");
	uint64_t together = TOGETHER_MOST, nr_slots = 1, nr_fitting;

	if (kib != UINT64_MAX)
		together = least_of(together, kib * 1024 / PART);
	if (in_container != UINT64_MAX)
		together = least_of(together, in_container / PART);
	together = least_of(together, room_for_files());
	together = least_of(together, part_of_limit(RLIMIT_AS));
	together = least_of(together, part_of_limit(RLIMIT_FSIZE));
	nr_fitting = together / (uint64_t)(sysconf(_SC_NPROCESSORS_CONF) + 1) / MEMORY_BYTES;
	while (2 * nr_slots <= nr_fitting)
		nr_slots *= 2;
	/* The number of slots of a ring is a power of two: ask for less, so that it is not rounded up beyond this. */
	nr_slots -= nr_slots / 8;
	return nr_slots * SLOT_BYTES >= least ? (size_t)(nr_slots * SLOT_BYTES) : 0;
}
