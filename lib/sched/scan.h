/* SPDX-License-Identifier: MIT */
/* Opens the records of the threads that a process has already, and reads their states from /proc. */
#ifndef PX_SCHED_SCAN_H
#define PX_SCHED_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/perf.h"
#include "sched/queue.h"
#include "sched/tasks.h"

struct px_scan {
	uint32_t pid;
	bool inherits; /* the children of the process inherit the events */
	struct px_tasks *tasks;
	struct px_sched_queue *queue;
};

/*
 * Open the records of all threads of the process, and add the threads to the table.  The states of the threads go to
 * the queue, as records with an initial state.  Return 0, an error of px_perf_open(), or ESRCH if the process has no
 * thread.  *perf is NULL before the call; the caller closes it, also after an error.
 */
int px_sched_scan(const struct px_scan *scan, struct px_perf **perf);

#endif
