/* SPDX-License-Identifier: MIT */
#include "sched/sched.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sched/follow.h"
#include "sched/perf.h"
#include "sched/queue.h"
#include "sched/scan.h"
#include "sched/tasks.h"

#define CPUS_CHECK_NS 1000000000
#define ROUND_NS 20000000 /* reads a buffer of 512 KiB in time, at 800,000 records per second */
#define ROUND_BYTES (512 << 10)
#define SHORTEST_ROUND_NS 1000000

struct px_sched {
	struct px_perf *perf;
	struct px_sched_queue queue;
	struct px_tasks tasks;
	bool is_on;	/* between start and stop */
	bool has_ended; /* a CPU without a buffer came online, or the queue is broken */
	uint64_t complete_ns, checked_ns;
	/* Events to return before the next record of the queue: SCHED_START or SCHED_STOP, then all threads. */
	bool starts, stops;
	uint32_t end;
	uint64_t change_ns;
	size_t next_told; /* bucket of the next thread to return; nr_buckets: none */
};

void px_sched_collect(struct px_sched *sched)
{
	uint64_t now = px_clock_monotonic_ns();

	if (sched->has_ended)
		return;
	px_sched_queue_read(&sched->queue, sched->perf);
	sched->has_ended = sched->queue.is_broken;
	sched->complete_ns = now - PX_SCHED_DELAY_NS;
	if (now - sched->checked_ns < CPUS_CHECK_NS)
		return;
	sched->checked_ns = now;
	if (px_perf_misses_cpu(sched->perf)) {
		sched->has_ended = true;
		sched->end = PX_SCHED_CPUS;
	}
}

uint64_t px_sched_complete_ns(const struct px_sched *sched)
{
	return sched->has_ended ? UINT64_MAX : sched->complete_ns;
}

size_t px_sched_nr_queued(const struct px_sched *sched, uint64_t *oldest_ns)
{
	const struct px_queued *oldest = px_sched_queue_first(&sched->queue);

	*oldest_ns = oldest ? oldest->record.time_ns : 0;
	return sched->queue.nr;
}

uint64_t px_sched_round_ns(const struct px_sched *sched)
{
	uint64_t round_ns = ROUND_NS * (px_perf_buffer_bytes(sched->perf) / 1024) / (ROUND_BYTES / 1024);

	return round_ns < SHORTEST_ROUND_NS ? SHORTEST_ROUND_NS : round_ns;
}

int px_sched_open(uint32_t pid, bool inherits, struct px_sched **sched)
{
	struct px_sched *made = calloc(1, sizeof(*made));
	int error = ENOMEM;

	if (!made)
		return ENOMEM;
	made->queue.only_pid = inherits ? 0 : pid;
	if (px_tasks_grow(&made->tasks)) {
		const struct px_scan scan = {pid, inherits, &made->tasks, &made->queue};

		error = px_sched_scan(&scan, &made->perf);
	}
	if (error) {
		px_sched_close(made);
		return error;
	}
	made->has_ended = made->queue.is_broken;
	made->next_told = made->tasks.nr_buckets;
	*sched = made;
	return 0;
}

void px_sched_close(struct px_sched *sched)
{
	if (!sched)
		return;
	px_perf_close(sched->perf);
	free(sched->queue.queued);
	free(sched->tasks.bucket);
	free(sched);
}

/* Events. */

void px_sched_start(struct px_sched *sched, uint64_t time_ns)
{
	if (sched->is_on || sched->has_ended)
		return;
	sched->is_on = sched->starts = true;
	sched->change_ns = time_ns;
	sched->next_told = 0;
}

void px_sched_stop(struct px_sched *sched, uint64_t time_ns)
{
	if (!sched->is_on)
		return;
	sched->is_on = false;
	sched->stops = !sched->starts;
	sched->starts = false;
	sched->change_ns = time_ns;
	sched->next_told = sched->tasks.nr_buckets;
}

static void make_end(struct px_sched_event *event, uint64_t time_ns, uint32_t end)
{
	*event = (struct px_sched_event){
		.time_ns = time_ns, .id = PX_EVENT_SCHED_STOP, .length = sizeof(end), .data.end = end};
}

/* Return the events that come with a start or a stop. */
static bool next_of_change(struct px_sched *sched, struct px_sched_event *event)
{
	if (sched->stops) {
		sched->stops = false;
		make_end(event, sched->change_ns, PX_SCHED_STOPPED);
		return true;
	}
	if (sched->starts) {
		sched->starts = false;
		*event = (struct px_sched_event){.time_ns = sched->change_ns, .id = PX_EVENT_SCHED_START};
		return true;
	}
	while (sched->next_told < sched->tasks.nr_buckets) {
		const struct px_task *task = &sched->tasks.bucket[sched->next_told++];

		if (task->tid == 0 || task->state == PX_SCHED_UNKNOWN)
			continue;
		px_sched_make_thread(event, PX_EVENT_SCHED_THREAD, sched->change_ns, task, task->state);
		return true;
	}
	return false;
}

bool px_sched_next(struct px_sched *sched, uint64_t time_ns, struct px_sched_event *event)
{
	while (!next_of_change(sched, event)) {
		const struct px_queued *queued = px_sched_queue_first(&sched->queue);
		enum px_followed followed;

		if (!queued && sched->has_ended && sched->is_on) {
			sched->is_on = false;
			make_end(event, time_ns, sched->end);
			return true;
		}
		if (!queued || queued->record.time_ns > time_ns || queued->record.time_ns > px_sched_complete_ns(sched))
			return false;
		followed = px_sched_follow(&sched->tasks, queued, event);
		if (followed != PX_FOLLOWED_MORE)
			px_sched_queue_drop_first(&sched->queue);
		if (followed != PX_FOLLOWED_SILENT && sched->is_on)
			return true;
	}
	return true;
}
