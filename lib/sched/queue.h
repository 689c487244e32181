/* SPDX-License-Identifier: MIT */
/*
 * The records of all CPUs in one queue, in the order of time.  Records of the same time keep the order in which they
 * came.
 *
 * If there is no memory for a record, the queue is broken: what is missing from there on is not known.
 */
#ifndef PX_SCHED_QUEUE_H
#define PX_SCHED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/perf.h"

struct px_queued {
	struct px_perf_record record;
	uint64_t serial;
	uint32_t initial; /* not 0: the thread has this state, as /proc says (enum px_sched_state) */
};

struct px_sched_queue {
	struct px_queued *queued; /* the records are in queued[first] to queued[first + nr - 1] */
	size_t nr, first, nr_allocated;
	uint64_t serial;
	uint32_t only_pid; /* not 0: leave out the threads of other processes */
	bool is_broken;
};

/* Add a record.  The queue is not in order until px_sched_queue_sort(). */
void px_sched_queue_push(struct px_sched_queue *queue, const struct px_queued *queued);
void px_sched_queue_sort(struct px_sched_queue *queue);

/* Move the records of the kernel's buffers into the queue. */
void px_sched_queue_read(struct px_sched_queue *queue, struct px_perf *perf);

/* Return the oldest record, or NULL. */
const struct px_queued *px_sched_queue_first(const struct px_sched_queue *queue);
void px_sched_queue_drop_first(struct px_sched_queue *queue);

#endif
