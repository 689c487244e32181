/* SPDX-License-Identifier: MIT */
/*
 * Tracing without the tool: the options from the environment, and the log into which the object traces its own process.
 */
#ifndef PX_PRELOAD_STANDALONE_STANDALONE_H
#define PX_PRELOAD_STANDALONE_STANDALONE_H

#include <stdbool.h>
#include <stdint.h>

struct px_standalone {
	uint32_t children; /* enum px_children (env_options.h) */
	uint32_t pid;	   /* pid of the process in which our constructor ran; 0: it has not run */
	/* This process is not traced, and its exec leaves this object out of the environment. */
	bool is_quiet;
};

extern struct px_standalone px_standalone __attribute__((visibility("hidden")));

/*
 * Return true if a program that this process executes must not preload this object.  spawns: true if posix_spawn()
 * executes it.  Async-signal-safe, even in a child of vfork().
 */
bool px_standalone_leaves_out(bool spawns);

/* Complete the log of this process, because the flush thread must not make system calls any more. */
void px_standalone_end_log(void);

/*
 * End the flush thread of this process, until px_standalone_resume(): always, or if it has other rights than the
 * calling thread.  Return false if no thread was ended.  Keeps errno.
 */
bool px_standalone_pause(bool always);

/* Start it again, or complete the log if that is not possible.  Keeps errno. */
void px_standalone_resume(void);

/*
 * Call this in a child of fork.  If the parent has a log and TXTRACE_CHILDREN includes this child, begin a log of the
 * child.  Keeps errno.
 */
void px_standalone_after_fork(void);

#endif
