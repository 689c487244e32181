/* SPDX-License-Identifier: MIT */
/* The events that show when a process begins and ends.  The program makes no call for them. */
#ifndef PX_PRELOAD_WRAP_PROCESS_H
#define PX_PRELOAD_WRAP_PROCESS_H

#include <sys/types.h>

/*
 * Record that this process begins, as a child of `parent` (0: not known).  A child of fork() goes on with the program
 * of its parent: then fork_time is the time of the fork (event/calls.h).  Otherwise fork_time is 0, and command is the
 * command line of the new program, or NULL if it is not known.  Keeps errno.  Async-signal-safe.
 */
void px_process_record_start(pid_t parent, uint32_t fork_time, const char *command);

#endif
