/* SPDX-License-Identifier: MIT */
/*
 * Scheduling records of a process, in the order of time, as they go to a log.
 *
 * px_sched_collect() copies the records of the kernel into a queue.  A record of a CPU may become visible a little
 * after its time: an interrupt or the hypervisor delays the kernel.  So the queue counts as complete only up to
 * PX_SCHED_DELAY_NS before the call.  px_sched_next() returns no later record.
 *
 * A thread that existed before px_sched_open() may have inherited the same events that this module opens for it.  Then
 * the kernel reports each of its switches twice.  The module leaves out the second report: a thread that runs already
 * cannot get a CPU.
 *
 * Times are CLOCK_MONOTONIC.  The caller ensures that only one thread at a time uses an object.
 */
#ifndef PX_SCHED_SCHED_H
#define PX_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/eventset.h"
#include "event/sched.h"

/* The delay that a flush grants to a writer of a ring, too. */
#define PX_SCHED_DELAY_NS 50000

struct px_sched;

/* An event for the log. */
struct px_sched_event {
	uint64_t time_ns;
	uint32_t id;  /* PX_EVENT_SWITCH_IN ... PX_EVENT_CPU_TIME */
	uint32_t cpu;
	uint32_t pid; /* of the thread; 0: none */
	uint32_t tid;
	size_t length;
	union {
		struct px_sched_thread thread;
		struct px_sched_gap gap;
		struct px_sched_count count;
		uint32_t end;
	} data;
};

/*
 * Open the records of all threads of a process.  Return 0, an error of px_perf_open(), or ENOTSUP if the process has
 * no thread that runs.
 */
int px_sched_open(uint32_t pid, bool inherits, struct px_sched **sched);

/* NULL does nothing. */
void px_sched_close(struct px_sched *sched);

void px_sched_collect(struct px_sched *sched);

/* Return the time up to which the queue is complete. */
uint64_t px_sched_complete_ns(const struct px_sched *sched);

/* Return the number of records in the queue, and the time of the oldest one in *oldest_ns. */
size_t px_sched_nr_queued(const struct px_sched *sched, uint64_t *oldest_ns);

/*
 * The stream starts or stops at this time.  Between a stop and the next start, px_sched_next() returns nothing.  After
 * a start it returns PX_EVENT_SCHED_START and the states of all threads, after a stop PX_EVENT_SCHED_STOP.
 */
void px_sched_start(struct px_sched *sched, uint64_t time_ns);
void px_sched_stop(struct px_sched *sched, uint64_t time_ns);

/*
 * Return the next event that is not later than time_ns, and remove it.  Return false if there is none.
 */
bool px_sched_next(struct px_sched *sched, uint64_t time_ns, struct px_sched_event *event);

/* Return how often the kernel's buffers should be read, so that they do not become full. */
uint64_t px_sched_round_ns(const struct px_sched *sched);

#endif
