/* SPDX-License-Identifier: MIT */
/*
 * The object by itself: what its environment asks for, and the log that it writes of its process without anybody's
 * help.
 */
#ifndef PX_PRELOAD_STANDALONE_STANDALONE_H
#define PX_PRELOAD_STANDALONE_STANDALONE_H

#include <stdbool.h>
#include <stdint.h>

struct px_standalone {
	uint32_t children; /* enum px_children of env_options.h */
	uint32_t pid;	   /* that our constructor saw; 0: it has not run */
	bool is_quiet;	   /* this process is not to be traced, and does not pass us on */
};

extern struct px_standalone px_standalone __attribute__((visibility("hidden")));

/* True if what the process executes now, or spawns, is not to have us.  Async-signal-safe, also in a child of vfork. */
bool px_standalone_leaves_out(bool spawns);

/* The main thread ends, and the process is to end with its last thread but ours. */
void px_standalone_main_ends(void);

/* In a child by fork: it begins a log of its own, if its parent has one, and children are wanted.  Keeps errno. */
void px_standalone_after_fork(void);

#endif
