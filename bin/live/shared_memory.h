/* SPDX-License-Identifier: MIT */
/*
 * Which file or anonymous memory several processes share at an address.  The answer is the same text in all processes,
 * such as "00:01:4711+0x40": device, inode and offset.
 */
#ifndef TXTRACE_LIVE_SHARED_MEMORY_H
#define TXTRACE_LIVE_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The shared mappings of a process.  A struct of zeros has none. */
struct shared_memory {
	struct shared_mapping {
		uint64_t begin, end, offset;
		char where[48]; /* device and inode */
	} * mapping;
	size_t nr;
	unsigned int nr_reads;
	int64_t read_ns, cost_ns; /* when the mappings were read, and for how long; CLOCK_MONOTONIC */
};

/* Read the shared mappings of the process.  If it has ended, keep those that were read before. */
void shared_memory_read(struct shared_memory *memory, pid_t pid);

/*
 * Write the place of the address in shared memory.  The process may have mapped something else there since, so read its
 * mappings again, but not all the time.  If the address is in no known shared mapping, read them again only some
 * hundred times for a process.  Return false if the address is not in shared memory.  If the process has ended, the
 * answer is what was read last.
 */
bool shared_memory_place(struct shared_memory *memory, pid_t pid, uint64_t address, char *text, size_t size);
void shared_memory_free(struct shared_memory *memory);

#endif
