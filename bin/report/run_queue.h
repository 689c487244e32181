/* SPDX-License-Identifier: MIT */
/*
 * How many threads ran, and how many were ready but had no CPU, over time: means over intervals of equal length.  The
 * length grows with the trace, so there are at most RUN_QUEUE_ROWS intervals.
 */
#ifndef TXTRACE_REPORT_RUN_QUEUE_H
#define TXTRACE_REPORT_RUN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/thread_states.h"

#define RUN_QUEUE_ROWS 50

struct run_queue {
	/* of the first interval, from the first event; width_ns is 0 before the first period */
	int64_t begin_ns, width_ns;
	bool is_five;		    /* the next growth is by 2, otherwise by 5 */
	int64_t end_ns;		    /* the end of the latest period */
	int64_t ready_ns[RUN_QUEUE_ROWS], running_ns[RUN_QUEUE_ROWS], unknown_ns[RUN_QUEUE_ROWS];
};

/* A thread was in this state.  Periods may come in any order, but none begins before begin_ns. */
void run_queue_add(struct run_queue *queue, enum thread_state state, int64_t from_ns, int64_t until_ns);

/* Return the number of intervals. */
size_t run_queue_rows(const struct run_queue *queue);

/* Return the length of an interval: the last one may be shorter. */
int64_t run_queue_length(const struct run_queue *queue, size_t row);

#endif
