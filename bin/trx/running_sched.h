/* SPDX-License-Identifier: MIT */
/*
 * Scheduling records in a trace buffer.  They have no entries of their own, but those that ThreadX would have recorded:
 * TIME_SLICE of a thread that was preempted, SUSPEND and RESUME of a thread that was blocked.  Only a file of one CPU
 * has them.  In a file of all CPUs, the records decide which thread gets the time.
 */
#ifndef TXTRACE_TRX_RUNNING_SCHED_H
#define TXTRACE_TRX_RUNNING_SCHED_H

#include <stdbool.h>

#include "trx/running_views.h"

/* A scheduling record; has_thread: it is about a thread of the log. */
void running_sched(struct running *running, const struct spooled *event, bool has_thread);

#endif
