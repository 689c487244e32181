/* SPDX-License-Identifier: MIT */
/*
 * Follows the states of threads from record to record, and makes the events of the log.
 *
 * A record that says what is known already makes no event: a thread may have the same events twice (sched.h), and then
 * each of its switches comes twice.
 */
#ifndef PX_SCHED_FOLLOW_H
#define PX_SCHED_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/queue.h"
#include "sched/sched.h"
#include "sched/tasks.h"

/* What px_sched_follow() has done with a record. */
enum px_followed {
	PX_FOLLOWED_SILENT, /* the record is used, and makes no event */
	PX_FOLLOWED_EVENT,  /* the record is used, and makes this event */
	PX_FOLLOWED_MORE    /* the record makes this event, and others: pass it again */
};

/* Update the threads with a record. */
enum px_followed px_sched_follow(struct px_tasks *tasks, const struct px_queued *queued, struct px_sched_event *event);

/* Make an event of a thread, with this state. */
void px_sched_make_thread(struct px_sched_event *event, uint32_t id, uint64_t time_ns, const struct px_task *task,
			  uint32_t state);

#endif
