/* SPDX-License-Identifier: MIT */
#include "sched/queue.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct px_sched_queue *queue)
{
	size_t nr = queue->nr_allocated ? 2 * queue->nr_allocated : 4096;
	struct px_queued *more;

	if (queue->first + queue->nr < queue->nr_allocated)
		return true;
	if (queue->first > 0) {
		memmove(queue->queued, queue->queued + queue->first, queue->nr * sizeof(*queue->queued));
		queue->first = 0;
		if (queue->nr <= queue->nr_allocated / 2)
			return true;
	}
	more = realloc(queue->queued, nr * sizeof(*more));
	if (!more)
		return false;
	queue->queued = more;
	queue->nr_allocated = nr;
	return true;
}

void px_sched_queue_push(struct px_sched_queue *queue, const struct px_queued *queued)
{
	if (!make_room(queue)) {
		queue->is_broken = true;
		return;
	}
	queue->queued[queue->first + queue->nr] = *queued;
	queue->queued[queue->first + queue->nr++].serial = queue->serial++;
}

static void take(void *argument, const struct px_perf_record *record)
{
	struct px_sched_queue *queue = argument;

	/* A thread of another process is a child that inherited the events from an old kernel. */
	if (queue->only_pid && record->pid != queue->only_pid && record->kind < PX_PERF_GAP_BEGINS)
		return;
	px_sched_queue_push(queue, &(struct px_queued){.record = *record});
}

static int compare(const void *a, const void *b)
{
	const struct px_queued *first = a, *second = b;

	if (first->record.time_ns != second->record.time_ns)
		return first->record.time_ns < second->record.time_ns ? -1 : 1;
	return first->serial < second->serial ? -1 : 1;
}

void px_sched_queue_sort(struct px_sched_queue *queue)
{
	qsort(queue->queued + queue->first, queue->nr, sizeof(*queue->queued), compare);
}

void px_sched_queue_read(struct px_sched_queue *queue, struct px_perf *perf)
{
	size_t nr_before = queue->nr;

	px_perf_read(perf, take, queue);
	if (queue->nr > nr_before)
		px_sched_queue_sort(queue);
}

const struct px_queued *px_sched_queue_first(const struct px_sched_queue *queue)
{
	return queue->nr ? &queue->queued[queue->first] : NULL;
}

void px_sched_queue_drop_first(struct px_sched_queue *queue)
{
	queue->first++;
	queue->nr--;
}
