/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs when, in a trace buffer that is made from a log.
 *
 * TraceX knows one CPU.  It gives the time between two events to the thread of the second event.  After a SUSPEND or a
 * RESUME, it gives the time to the thread that this event names as the next one.  A log has several CPUs, and a thread
 * of a log may have slept before its event.  So this module inserts entries RUNNING, and sets the contexts and the next
 * threads of the SUSPEND and RESUME events, so that TraceX's rules lead to what the log shows.
 *
 * What the log shows: a thread runs on a CPU from its event until another thread has an event on this CPU, until the
 * thread has an event on another CPU, until the kernel says that it loses the CPU, until the thread begins to wait or
 * ends, and until the recording stops or loses events.  doc/reports.md has this rule too, and `txtrace report` uses it.
 *
 * The result has these properties:
 * - A file of one CPU: all time is given to the thread that ran on this CPU.
 * - A file of all CPUs: all time is given to a thread that ran on any CPU.  If several threads ran, this is the thread
 *   of the next event or of the last event, if one of these two ran.
 * - If no thread of the log is known to have run, the time is given to the thread "idle".
 * - A SUSPEND does not name the suspended thread as the next one.
 * - The context of a RESUME is the thread that ended the wait.  It is "idle" if this thread is unknown, waits itself
 *   or has ended, or if the file is of another CPU.
 * - A thread that has an event while it waits was woken up by a signal handler, or the end of its wait is missing.  The
 *   module inserts a RESUME before this event.
 * - TraceX has enough memory for the status changes of each thread.
 * - In files of one CPU, a wait is only in the file of the CPU where it began.
 *
 * Events of ThreadX buffers stay as they are.
 */
#ifndef TXTRACE_TRX_RUNNING_H
#define TXTRACE_TRX_RUNNING_H

#include <stdbool.h>

#include "trx/objects.h"
#include "trx/sort.h"

/*
 * Put all events of `from`, with the additions, into `to`, which is empty.  If per_core is true, the additions are for
 * files of one CPU, otherwise for a file of all CPUs.  The function may register the thread "idle".  Read errors are in
 * from->error.
 */
void running_add(struct sorter *from, struct sorter *to, struct trx_objects *trx_objects,
		 bool per_core);

#endif
