/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says about threads and processes, from /proc/<id>.  Async-signal-safe: plain
 * system calls, no allocation, no cancellation point.  Keeps errno.
 */
#ifndef PX_BASE_PROCFS_H
#define PX_BASE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum px_procfs {
	PX_PROCFS_GONE, /* does not exist, is a zombie, or on its way there: it will not run again */
	PX_PROCFS_STOPPED, /* by a signal or a debugger */
	PX_PROCFS_RUNNING  /* may run, now or later */
};

enum px_procfs px_procfs_of(uint32_t tid);

/* True unless it is gone.  Any value may be asked for: it may come out of shared memory. */
bool px_procfs_has(uint32_t tid);

/* The same question, for those who are handed who answers it. */
typedef bool px_procfs_asked(uint32_t tid);

/* When it started, in clock ticks since boot; 0 when that cannot be told. */
uint64_t px_procfs_start(uint32_t pid);

/* pid and start in one word, which shared memory can hold; 0: there is no such start. */
PX_INLINE uint64_t px_procfs_word(uint32_t pid, uint64_t start)
{
	return start != 0 && start >> 42 == 0 ? (uint64_t)pid << 42 | start : 0;
}

/* True unless the process of this word is gone. */
bool px_procfs_has_word(uint64_t word);

/*
 * A thread of the process that has not ended: the first one, or where that has, another, since the process goes on
 * without it; what /proc tells of a process it tells of such a thread only.  0: there is none.
 */
uint32_t px_procfs_thread(uint32_t pid);

/* The scale of starts: clock ticks since boot, now; in this time name space, like all of them. */
uint64_t px_procfs_now(void);

/* Its parent, 0 for none; *start as px_procfs_start().  False if that cannot be told. */
bool px_procfs_parent(uint32_t pid, uint32_t *parent, uint64_t *start);

/* The pid name space of this process, which is what its pids mean; 0 when that cannot be told. */
uint32_t px_procfs_pid_namespace(void);

/* True if the process with this pid is there, and is the one that started then. */
bool px_procfs_is_same(uint32_t pid, uint64_t start);

/*
 * The numbers of the System V segments that the process has attached, max at most.  Returns how many
 * there are, or -1 if that is not ours to see, or the process has ended meanwhile.
 */
int px_procfs_segments(uint32_t pid, uint32_t id[], int max);

/* True if the process has attached this one, or may, as far as we can see. */
bool px_procfs_has_segment(uint32_t pid, uint32_t id);

/* True if the process maps a file whose path holds name, or may, as far as we can see. */
bool px_procfs_maps(uint32_t pid, const char *name);

#endif
