/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says about threads and processes, from /proc/<id>.  Async-signal-safe: plain
 * system calls, no allocation, no cancellation point.  Keeps errno.
 */
#ifndef PX_LIFE_H
#define PX_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum px_life {
	PX_LIFE_GONE,	 /* does not exist, or is a zombie: it will not run again */
	PX_LIFE_STOPPED, /* by a signal or a debugger */
	PX_LIFE_RUNNING	 /* may run, now or later */
};

enum px_life px_life_of(uint32_t tid);

/* True unless it is gone.  Any value may be asked for: it may come out of shared memory. */
bool px_life_has(uint32_t tid);

/* The same question, for those who are handed who answers it. */
typedef bool px_life_asked(uint32_t tid);

/* When it started, in clock ticks since boot; 0 when that cannot be told. */
uint64_t px_life_start(uint32_t pid);

/* The pid name space of this process, which is what its pids mean; 0 when that cannot be told. */
uint32_t px_life_pid_namespace(void);

/* True if the process with this pid is there, and is the one that started then. */
bool px_life_is_same(uint32_t pid, uint64_t start);

/* True if the process maps a file whose path holds name, or may, as far as we can see. */
bool px_life_maps(uint32_t pid, const char *name);

#endif
