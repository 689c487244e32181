/* SPDX-License-Identifier: MIT */
/* The events that show when a process begins and ends.  The program makes no call for them. */
#ifndef PX_PRELOAD_WRAP_PROCESS_H
#define PX_PRELOAD_WRAP_PROCESS_H

#include <sys/types.h>

/*
 * Record that this process begins, as a child of `parent` (0: not known).  command is the command line of a new
 * program; NULL: the child of a fork goes on with the program of its parent.  Keeps errno.  Async-signal-safe.
 */
void px_process_record_start(pid_t parent, const char *command);

#endif
