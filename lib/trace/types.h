/* SPDX-License-Identifier: MIT */
/*
 * The event types of this process: which ones it has opened, and what they are called.
 *
 * The names stand in the table of the process's family (shared_names.h), so that an id means the same in all
 * of it; which of them this process opened is its own (FORK-7 copies it, exec ends it).  It is kept
 * here, where a trace point reads it, and in the family's table, where a controller may add to it
 * (TRIDOPEN-1); what was added there counts as opened as soon as somebody looks.
 *
 * Types are opened under a mutex, so that the limit is exact; trace points read the set without it.
 * A process is named by its word (procfs.h).
 */
#ifndef PX_TRACE_TYPES_H
#define PX_TRACE_TYPES_H

#include <stdbool.h>

#include "event/eventset.h"
#include "registry/shared_names.h"
#include "ring/segment.h"

/* TRACE_USER_EVENT_MAX: named user event types and the unnamed one. */
#define PX_TYPES_MAX 1024

/* Types that this process opened, and the unnamed one: what a trace point accepts (EVENT-13). */
extern struct px_eventset px_types_opened __attribute__((visibility("hidden")));

/*
 * The table of this process; NULL: it has none.  Once it has one it keeps it.  Async-signal-safe, like
 * all here but opening.
 */
struct px_shared_names *px_types_shared_names(uint32_t *number);

/* Use this table, unless there is one: false then, and it is still the caller's. */
bool px_types_use(const struct px_shared_names_ref *ref);

/*
 * A place in the table, as this incarnation of the process, with all that is opened: for a child, which
 * opened what its parent had.
 */
void px_types_enter(uint64_t word, uint64_t incarnation);

/* What the former program of this process had opened is not ours (EXEC-2). */
void px_types_forget(uint64_t word);

/* A type that a controller has opened for us, and that is not opened yet, or PX_EVENT_NONE. */
unsigned int px_types_find_granted(uint64_t word);

/* Now it is.  It comes into the order of types when the next one is opened. */
void px_types_accept(unsigned int id);

/*
 * Open a type: its id, new or known; the unnamed user event when there are PX_TYPES_MAX and the
 * name is new (EVOPEN-4).  0, ENOMEM without a table, or ENAMETOOLONG beyond PX_NAME_MAX bytes
 * (EVOPEN-7).  *first: what is opened from this number on is new.  Not a cancellation point.
 */
int px_types_open(const char *name, uint64_t word, unsigned int *id, uint32_t *first);

/*
 * The same for the process of a place in a table, by its controller (TRIDOPEN-1, TRIDOPEN-4).  The
 * type is to be added to the list of the stream.
 */
int px_types_open_for(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		      const char *name, unsigned int *id);

/* The process of this place may use the type without opening it. */
void px_types_grant(struct px_shared_names_member *member, unsigned int id);

/* Make known to a stream what somebody in the family has opened. */
void px_types_list(struct px_shared_names *shared_names, const struct px_eventset *opened,
		   const struct px_view *view);

/* Make one type known to a stream. */
void px_types_add(const struct px_view *view, unsigned int id);

/*
 * Make known to a stream what was opened from number first on, counted from 0.  Returns how many there
 * are.
 */
uint32_t px_types_add_from(const struct px_view *view, uint32_t first);

#endif
