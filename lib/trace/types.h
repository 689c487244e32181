/* SPDX-License-Identifier: MIT */
/*
 * The event types of this process: which types it has opened, and their names.
 *
 * The names are in the shared name table (shared_names.h), so that an id means the same in all processes that share
 * it.  The set of opened types belongs to the process (FORK-7 copies it, exec ends it).  It is kept here, where a trace
 * point reads it, and in the table, where a controller may add to it (TRIDOPEN-1).  An added type counts as opened when
 * the process next checks.
 *
 * Types are opened under a mutex, so that the limit is exact.  Trace points read the set without it.  A process is
 * identified by its word (procfs.h).
 */
#ifndef PX_TRACE_TYPES_H
#define PX_TRACE_TYPES_H

#include <stdbool.h>

#include "event/eventset.h"
#include "registry/shared_names.h"
#include "ring/segment.h"

/* TRACE_USER_EVENT_MAX: named user event types and the unnamed one. */
#define PX_TYPES_MAX 1024

/* The types that a trace point accepts (EVENT-13): opened by this process, and the unnamed type. */
extern struct px_eventset px_types_opened __attribute__((visibility("hidden")));

/*
 * Return the shared name table of this process, or NULL.  A process never changes its table.  Only px_types_open() and
 * px_types_open_for() are not async-signal-safe.
 */
struct px_shared_names *px_types_shared_names(uint32_t *number);

/* Use this table.  Return false if the process already has a table: then the caller keeps this table. */
bool px_types_use(const struct px_shared_names_ref *ref);

/*
 * Enter this incarnation of the process in the table, with all opened types: a child has opened the types of its
 * parent.
 */
void px_types_enter(uint64_t word, uint64_t incarnation);

/* Forget the types that the program before exec had opened (EXEC-2). */
void px_types_forget(uint64_t word);

/* Return a type that a controller has opened for this process and that is not yet accepted, or PX_EVENT_NONE. */
unsigned int px_types_find_granted(uint64_t word);

/* Accept the type.  It enters the order of types when the next type is opened. */
void px_types_accept(unsigned int id);

/*
 * Open a type.  *id becomes its id, new or known, or the unnamed user event if there are PX_TYPES_MAX types
 * and the name is new (EVOPEN-4).  *first becomes the number of the first new type in the order of types.  Return 0,
 * ENOMEM without a table, or ENAMETOOLONG beyond PX_NAME_MAX bytes (EVOPEN-7).  Not a cancellation point.
 */
int px_types_open(const char *name, uint64_t word, unsigned int *id, uint32_t *first);

/*
 * Open a type in the same way, in a controller for the process of an entry in a table (TRIDOPEN-1, TRIDOPEN-4).
 * The caller adds the type to the list of the stream.
 */
int px_types_open_for(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		      const char *name, unsigned int *id);

/* Let the process of this entry use the type without opening it. */
void px_types_grant(struct px_shared_names_member *member, unsigned int id);

/* Register in a stream the types in `opened`. */
void px_types_list(struct px_shared_names *shared_names, const struct px_eventset *opened,
		   const struct px_view *view);

/* Register one type in a stream. */
void px_types_add(const struct px_view *view, unsigned int id);

/*
 * Register in a stream the types from number first on, counted from 0, in the order of types.  Return the number of
 * types.
 */
uint32_t px_types_add_from(const struct px_view *view, uint32_t first);

#endif
