/* SPDX-License-Identifier: MIT */
/*
 * The event types of this process: which types it has opened, and their names.
 *
 * The names are in the shared name table (shared_names.h), so that an id means the same in all
 * processes that share the table.  The set of opened types belongs to the process: fork copies the
 * set (FORK-7), and exec ends it.  There are two copies of the set.  Trace points read the copy
 * px_types_opened.  The other copy is in the shared name table, where a controller may add a type
 * (TRIDOPEN-1).  The process accepts an added type when it next reads that copy.
 *
 * A thread opens a type under a mutex, so that the limit of types is exact.  Trace points read the
 * set without the mutex.  The parameter `word` identifies a process (procfs.h).
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
 * Get the shared name table of this process and its number.  Return NULL if there is no table.  A
 * process never changes a shared table, but moves from a private table to the shared table that replaces it
 * (px_types_move()).  The private table remains mapped.
 *
 * All functions of this file are async-signal-safe, except px_types_open() and px_types_open_for().
 */
struct px_shared_names *px_types_shared_names(uint32_t *number);

/*
 * Make this the table of this process.  Return false if the process already has a table: then the
 * caller still owns the new table.
 */
bool px_types_use(const struct px_shared_names_ref *ref);

/* Return true if this is the number of the private table of this process, even if it has moved to a shared one. */
bool px_types_is_own_private(uint32_t number);

/*
 * Make this shared table replace the private table of this process.  If the shared table lacks names of this process,
 * add them.  Return 0, EEXIST if another thread has attached the same table (then the caller still owns its mapping),
 * or EACCES if the table has other names for ids of this process, or is not the only one.
 */
int px_types_move(const struct px_shared_names_ref *ref);

/*
 * Enter this process in its table, with its incarnation and all opened types.  A child enters the
 * types of its parent too, because fork copies the set of opened types.  Set *moved_to to the number of the shared
 * table to which this process has to move, or to 0.  Return 0, or an error if other processes do not find its private
 * table.
 */
int px_types_enter(uint64_t word, uint64_t incarnation, uint32_t *moved_to);

/* This process exits: remove what no other process needs. */
void px_types_leave(uint64_t word);

/* After exec, remove the types from the table that the former program had opened (EXEC-2). */
void px_types_forget(uint64_t word);

/* Return a type that a controller has opened for this process and that is not yet accepted, or PX_EVENT_NONE. */
unsigned int px_types_find_granted(uint64_t word);

/* Let trace points accept this type.  The next px_types_open() adds it to the order of types. */
void px_types_accept(unsigned int id);

/*
 * Open a type.  Set *id to the id of the type, which is new if no process has opened the name before.  If this process
 * has PX_TYPES_MAX types, or the table is full, a new name gets the id of the unnamed user event (EVOPEN-4).  Set
 * *first to the number of the first new type in the order of types.  Return 0, ENOMEM if there is no table, or
 * ENAMETOOLONG if the name has more than PX_NAME_MAX bytes (EVOPEN-7).  Not a cancellation point.
 *
 * If the process has a private table, another table may replace it at the same time.  Then return ESTALE, and set
 * *moved_to to the number of that table; 0: the process has to make a shared table, because other processes would not
 * know the name.  The caller moves, and calls this function again.  stays: keep the name in the private table anyway.
 */
int px_types_open(const char *name, uint64_t word, bool stays, unsigned int *id, uint32_t *first,
		  uint32_t *moved_to);

/*
 * In a controller, open a type for the process with this entry in a table, as px_types_open() does
 * (TRIDOPEN-1, TRIDOPEN-4).  The caller adds the type to the list of the stream.
 */
int px_types_open_for(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		      const char *name, unsigned int *id);

/*
 * Let the process with this entry record events of this type, although it has not opened the type.
 */
void px_types_grant(struct px_shared_names_member *member, unsigned int id);

/* Register all types of the set `opened` in a stream, with their descriptions. */
void px_types_list(struct px_shared_names *shared_names, const struct px_eventset *opened,
		   const struct px_view *view);

/*
 * Describe a type that this process has opened (event/descriptions.h).  Return 0, EINVAL if it has not opened the type,
 * or EEXIST or ENOSPC.  `stays`, *moved_to and ESTALE are those of
 * px_types_open().  The caller also describes the type in the streams, with px_types_add_description().
 */
int px_types_describe(unsigned int id, const char *text, size_t length, bool stays, uint32_t *moved_to);
void px_types_add_description(const struct px_view *view, unsigned int id);

/* Get the name of a type of user events that this process has opened.  Return 0 or EINVAL. */
int px_types_name(unsigned int id, char name[PX_NAME_MAX + 1]);

/* Register one type of this process in a stream, with its description. */
void px_types_add(const struct px_view *view, unsigned int id);

/*
 * Register types of this process in a stream.  Start with the type that has the number `first` in the order of types,
 * counted from 0.  Return the number of types that this process has opened.
 */
uint32_t px_types_add_from(const struct px_view *view, uint32_t first);

#endif
