/* SPDX-License-Identifier: MIT */
#include "live/shared_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define READS_MAX 256

/* Of its time, the tool spends at most one part in so many on reading mappings that it knows. */
#define SHARE 10

static const struct shared_mapping *find(const struct shared_memory *memory, uint64_t address)
{
	for (size_t i = 0; i < memory->nr; i++)
		if (address >= memory->mapping[i].begin && address < memory->mapping[i].end)
			return &memory->mapping[i];
	return NULL;
}

/* Add a line of /proc/<pid>/maps if it is a shared mapping: BEGIN-END RIGHTS OFFSET DEVICE INODE PATH. */
static void add_line(struct shared_memory *memory, const char *line)
{
	struct shared_mapping made;
	char rights[8], device[16], inode[24];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %15s %23s", &made.begin, &made.end, rights,
		   &made.offset, device, inode) != 6 ||
	    strlen(rights) != 4 || rights[3] != 's')
		return;
	snprintf(made.where, sizeof(made.where), "%s:%s", device, inode);
	memory->mapping = must(reallocarray(memory->mapping, memory->nr + 1, sizeof(made)));
	memory->mapping[memory->nr++] = made;
}

void shared_memory_read(struct shared_memory *memory, pid_t pid)
{
	struct shared_memory now = {.nr_reads = memory->nr_reads};
	int64_t begin_ns = clock_now_ns();
	char path[48], *line = NULL;
	bool is_alive = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		is_alive = true;
		add_line(&now, line);
	}
	free(line);
	fclose(file);
	if (is_alive) {
		shared_memory_free(memory);
		*memory = now;
	}
	memory->read_ns = clock_now_ns();
	memory->cost_ns = memory->read_ns - begin_ns;
}

/* The objects of a moment are named one after another: they have one reading of the mappings. */
static bool is_recent(const struct shared_memory *memory)
{
	return clock_now_ns() - memory->read_ns < SHARE * memory->cost_ns;
}

bool shared_memory_place(struct shared_memory *memory, pid_t pid, uint64_t address, char *text, size_t size)
{
	const struct shared_mapping *mapping = find(memory, address);

	if (mapping ? !is_recent(memory) : memory->nr_reads < READS_MAX) {
		memory->nr_reads += mapping == NULL;
		shared_memory_read(memory, pid);
		mapping = find(memory, address);
	}
	if (mapping)
		snprintf(text, size, "%s+0x%" PRIx64, mapping->where, address - mapping->begin + mapping->offset);
	return mapping != NULL;
}

void shared_memory_free(struct shared_memory *memory)
{
	free(memory->mapping);
}
