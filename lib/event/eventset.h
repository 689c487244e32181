/* SPDX-License-Identifier: MIT */
/*
 * Event type ids and sets of them.
 *
 * One id means the same in every stream of a process, in every process of a family and in every set
 * (MAP-3), so a set is a plain bit string over all ids that can exist.  It is recorded in START and
 * FILTER events as it lies in memory.
 */
#ifndef PX_EVENT_EVENTSET_H
#define PX_EVENT_EVENTSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

enum {
	PX_EVENT_NONE = 0, /* never an event type: catches ids that were never opened */
	PX_EVENT_ERROR = 1,
	PX_EVENT_START = 2,
	PX_EVENT_STOP = 3,
	PX_EVENT_FILTER = 4,
	PX_EVENT_OVERFLOW = 5,
	PX_EVENT_RESUME = 6,
	PX_EVENT_FLUSH_START = 7,
	PX_EVENT_FLUSH_STOP = 8,
	PX_EVENT_SYSTEM_LAST = PX_EVENT_FLUSH_STOP,
	PX_EVENT_UNNAMED = 16,
	PX_EVENT_USER_FIRST = 17, /* named user event types: 17 ... PX_EVENT_USER_END - 1 */
	PX_EVENT_USER_END = 3840,
	PX_EVENT_CALL_FIRST = PX_EVENT_USER_END, /* calls of a preloaded program (calls.h) */
	PX_EVENT_IDS = 4096
};

#define PX_EVENTSET_WORDS (PX_EVENT_IDS / 64)

struct px_eventset {
	uint64_t bits[PX_EVENTSET_WORDS];
} __attribute__((may_alias)); /* its memory may have been declared as a trace_event_set_t */

/* id < PX_EVENT_IDS is the caller's to check, here and below. */
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
