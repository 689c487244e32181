/* SPDX-License-Identifier: MIT */
/*
 * The times that the kernel counts for each thread of a process: on a CPU, and ready without one.  A stream stores them
 * where the kernel refuses scheduling records.  They say nothing about when a thread ran between two of them, and a
 * thread that runs has more time than the kernel has added up.
 *
 * Times are CLOCK_MONOTONIC.  The caller ensures that only one thread at a time uses an object.
 */
#ifndef PX_SCHED_CPU_TIMES_H
#define PX_SCHED_CPU_TIMES_H

#include "sched/sched.h"

struct px_cpu_times;

/* Return 0, ENOTSUP if the kernel does not count these times, or ENOMEM. */
int px_cpu_times_open(uint32_t pid, struct px_cpu_times **counted);

/* NULL does nothing. */
void px_cpu_times_close(struct px_cpu_times *counted);

/*
 * Between a start and a stop, read the times of all threads: at least PX_CPU_TIMES_ROUND_NS after the last time, in at
 * most 2 % of the time, and only if px_cpu_times_next() has returned what was read before.  The start and the stop read
 * them at once; the times of a stop get the time of the stop.
 */
#define PX_CPU_TIMES_ROUND_NS 100000000
void px_cpu_times_collect(struct px_cpu_times *counted);
void px_cpu_times_start(struct px_cpu_times *counted);
void px_cpu_times_stop(struct px_cpu_times *counted, uint64_t time_ns);

/* Return the next event that is not later than time_ns, and remove it.  Return false if there is none. */
bool px_cpu_times_next(struct px_cpu_times *counted, uint64_t time_ns, struct px_sched_event *event);

#endif
