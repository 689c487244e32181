/* SPDX-License-Identifier: MIT */
/*
 * Event type ids and sets of event types.
 *
 * An id has the same meaning in every stream of a process, in every process that shares the name
 * table, and in every set (MAP-3).  So a set is a bit string over all possible ids.  The data of a
 * START or FILTER event is a copy of a set.
 */
#ifndef PX_EVENT_EVENTSET_H
#define PX_EVENT_EVENTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

enum {
	PX_EVENT_NONE = 0, /* no event type has this id; so a variable that is 0 holds no valid id */
	PX_EVENT_ERROR = 1,
	PX_EVENT_START = 2,
	PX_EVENT_STOP = 3,
	PX_EVENT_FILTER = 4,
	PX_EVENT_OVERFLOW = 5,
	PX_EVENT_RESUME = 6,
	PX_EVENT_FLUSH_START = 7,
	PX_EVENT_FLUSH_STOP = 8,
	/* Scheduling records; only the flush of a log makes them (see "Scheduling records" in doc/design.md). */
	PX_EVENT_SWITCH_IN = 9,
	PX_EVENT_SWITCH_OUT = 10,
	PX_EVENT_SCHED_THREAD = 11,
	PX_EVENT_SCHED_GAP = 12,
	PX_EVENT_SCHED_START = 13,
	PX_EVENT_SCHED_STOP = 14,
	PX_EVENT_CPU_TIME = 15, /* where the kernel refuses the others */
	PX_EVENT_SYSTEM_LAST = PX_EVENT_CPU_TIME,
	PX_EVENT_UNNAMED = 16,
	PX_EVENT_USER_FIRST = 17, /* named user event types: ids from 17 to PX_EVENT_USER_END - 1 */
	PX_EVENT_USER_END = 3840,
	PX_EVENT_CALL_FIRST = PX_EVENT_USER_END, /* calls of a preloaded program (calls.h) */
	PX_EVENT_IDS = 4096
};

PX_INLINE bool px_event_is_sched(unsigned int id)
{
	return id >= PX_EVENT_SWITCH_IN && id <= PX_EVENT_CPU_TIME;
}

#define PX_EVENTSET_WORDS (PX_EVENT_IDS / 64)

struct px_eventset {
	uint64_t bits[PX_EVENTSET_WORDS];
} __attribute__((may_alias)); /* the memory may be declared as a trace_event_set_t */

/* The caller of this function and of the next two must check that id < PX_EVENT_IDS. */
PX_INLINE bool px_eventset_has(const struct px_eventset *set, unsigned int id)
{
	return px_read_once(&set->bits[id / 64]) >> (id % 64) & 1;
}

PX_INLINE void px_eventset_add(struct px_eventset *set, unsigned int id)
{
	set->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

PX_INLINE void px_eventset_del(struct px_eventset *set, unsigned int id)
{
	set->bits[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

#endif
