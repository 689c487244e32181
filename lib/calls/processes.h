/* SPDX-License-Identifier: MIT */
/*
 * What recorded calls tell of processes: that they begin, execute programs, and end.  descriptors.h and objects.h keep
 * what follows from this for objects.
 */
#ifndef PX_CALLS_PROCESSES_H
#define PX_CALLS_PROCESSES_H

#include "calls/call.h"
#include "calls/objects.h"
#include "event/threadmap.h"

/*
 * A child of vfork() uses the memory of its parent until it executes a program, so its calls are recorded as calls of
 * the thread that waits for it.  Its descriptors are those of another process: this bit and the pid of its parent.
 */
#define PX_VFORK_CHILD 0x80000000u

/* Return the process whose descriptors the calls of this thread have now. */
uint32_t px_processes_of_descriptors(const struct px_call_objects *objects, const struct px_call_object *thread,
				     uint32_t pid);

/*
 * The call is the first record of a thread: follow the program of its process, and the process itself, if they are new.
 * `threads` tells the program of the thread.  This may unbind the keys of all threads of the process.
 */
void px_processes_start(struct px_call_objects *objects, const struct px_threadmap *threads,
			const struct px_call_read *call);

/* Follow a call that makes, waits for, or ends a process, or executes a program. */
void px_processes_follow(struct px_call_objects *objects, const struct px_call_read *call);

#endif
