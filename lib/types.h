/* SPDX-License-Identifier: MIT */
/*
 * The event types of this process: which ones it has opened, and what they are called.
 *
 * The names stand in a table that children made by fork share (names.h), so that an id means the
 * same in all of them; which of them this process opened is its own (FORK-7 copies it).  Types are
 * opened under a mutex, so that the limit is exact; trace points read the set without it.
 */
#ifndef PX_TYPES_H
#define PX_TYPES_H

#include <stdbool.h>

#include "eventset.h"
#include "segment.h"

/* TRACE_USER_EVENT_MAX: named user event types and the unnamed one. */
#define PX_TYPES_MAX 1024

/* Types that this process opened, and the unnamed one: what a trace point accepts (EVENT-13). */
extern struct px_eventset px_types_opened __attribute__((visibility("hidden")));

/*
 * Open a type: its id, new or known; the unnamed user event when there are PX_TYPES_MAX and the
 * name is new (EVOPEN-4).  0, ENOMEM, or ENAMETOOLONG beyond PX_NAME_MAX bytes (EVOPEN-7).
 * *is_new: this process had not opened it.  Not a cancellation point, not async-signal-safe.
 */
int px_types_open(const char *name, unsigned int *id, bool *is_new);

/* The types of a stream of this process: the predefined ones, and those it opened. */
bool px_types_has(unsigned int id);

/*
 * Type number i of them, counted from 0: system types, the unnamed user event, the others in the
 * order in which they were opened (TYPELIST-4).  PX_EVENT_NONE behind the last.
 */
unsigned int px_types_get(unsigned int i);

/* The name of such a type, or EINVAL. */
int px_types_name(unsigned int id, char name[]);

/*
 * Make one type known to a stream, or all that were opened from number first on, counted from 0.
 * Returns how many there are.  Async-signal-safe.
 */
void px_types_add(const struct px_view *view, unsigned int id, const char *name);
uint32_t px_types_add_from(const struct px_view *view, uint32_t first);

#endif
