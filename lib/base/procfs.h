/* SPDX-License-Identifier: MIT */
/*
 * The state of threads and processes, from /proc/<id>.  Async-signal-safe: only system calls, no
 * allocation, no cancellation point.  Keeps errno.
 */
#ifndef PX_BASE_PROCFS_H
#define PX_BASE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum px_procfs {
	PX_PROCFS_GONE, /* does not exist, is a zombie or exits: it will not run again */
	PX_PROCFS_STOPPED, /* by a signal or a debugger */
	PX_PROCFS_RUNNING  /* may run, now or later */
};

enum px_procfs px_procfs_of(uint32_t tid);

/*
 * Return true unless the thread is gone.  tid may be any value, because it may come from shared
 * memory.
 */
bool px_procfs_has(uint32_t tid);

/* The type of px_procfs_has(), for functions that get it as a parameter. */
typedef bool px_procfs_asked(uint32_t tid);

/* Return the start time in clock ticks since boot, or 0 if it is unknown. */
uint64_t px_procfs_start(uint32_t pid);

/*
 * Pack pid and start time into one word for shared memory.  Return 0 if the start time is 0 or too
 * large.
 */
PX_INLINE uint64_t px_procfs_word(uint32_t pid, uint64_t start)
{
	return start != 0 && start >> 42 == 0 ? (uint64_t)pid << 42 | start : 0;
}

/* Return true unless the process of this word is gone. */
bool px_procfs_has_word(uint64_t word);

/*
 * Return a thread of the process that has not ended, or 0 if there is none.  If the first thread
 * has ended, this is another one.  /proc describes a process only through such a thread.
 */
uint32_t px_procfs_thread(uint32_t pid);

/*
 * Return the current time on the scale of start times: clock ticks since boot, in this time
 * namespace.
 */
uint64_t px_procfs_now(void);

/*
 * Set *parent to the parent's pid, or 0 if there is none, and *start as px_procfs_start() does.
 * Return false if they are unknown.
 */
bool px_procfs_parent(uint32_t pid, uint32_t *parent, uint64_t *start);

/*
 * Return the number of this process's pid namespace, which gives its pids their meaning, or 0 if it
 * is unknown.
 */
uint32_t px_procfs_pid_namespace(void);

/* Return true if the process with this pid exists and has this start time (0 fits any). */
bool px_procfs_is_same(uint32_t pid, uint64_t start);

/*
 * Write the ids of the System V segments that the process has attached, at most max.  Return their
 * number, or -1 if we may not read them or the process has ended.
 */
int px_procfs_segments(uint32_t pid, uint32_t id[], int max);

/* Return true if the process has attached this segment, or if we cannot find out. */
bool px_procfs_has_segment(uint32_t pid, uint32_t id);

/* Return true if the process maps a file with name in its path, or if we cannot find out. */
bool px_procfs_maps(uint32_t pid, const char *name);

#endif
