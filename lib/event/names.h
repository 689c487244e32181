/* SPDX-License-Identifier: MIT */
/*
 * The event names of the processes that share a name table: name <-> id, in shared memory that the
 * caller provides.
 *
 * A name gets the next free id and keeps it while the table exists (EVOPEN-10).  The table is
 * filled in the order of ids and never shrinks.  A thread that looks for a name compares it with
 * the entries in order.  The first FREE entry ends the search, and a new name goes there.  So names
 * are unique without a lock:
 *
 *	FREE -> WRITING(owner)		by compare-exchange; one writer wins
 *	WRITING(owner) -> READY		by the owner, after it stored the name (compare-exchange)
 *	WRITING(owner) -> DEAD		by any thread that gives up waiting for the owner; the id is never used
 *
 * A thread that wants to add a name waits at each WRITING entry, because the entry may get the same
 * name.  So after a WRITING entry there are only FREE entries.  The wait is short (a copy of 60
 * bytes) and bounded.  After a millisecond the waiter checks whether the owner is alive.  An owner
 * that is alive but does not proceed (a stopped process, a reused tid) is given up after 100 ms.
 * Each further such owner in the same call halves this limit.  If an owner was given up too early,
 * the compare-exchange of its last step fails, and the owner continues with another entry.
 *
 * To a process of another user the table is hostile input.  States are read once and checked, texts
 * are compared and copied within their bounds, and the wait is bounded for any contents of the
 * table.  Thread-safe, process-safe.  fork() needs no care, because entries belong to threads of
 * any process.
 */
#ifndef PX_EVENT_NAMES_H
#define PX_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/procfs.h"
#include "event/eventset.h"

#define PX_NAME_MAX 59 /* bytes of an event name, without the null byte */

struct px_name_entry {
	uint32_t word; /* state in the low 2 bits, tid of the writer above */
	uint32_t hash;
	char text[PX_NAME_MAX + 1];
};

struct px_names {
	struct px_name_entry entry[PX_EVENT_USER_END - PX_EVENT_USER_FIRST];
};

/* Bytes of a table.  Zeroed memory is an empty table. */
#define PX_NAMES_SIZE (sizeof(struct px_names))

/*
 * Find name and store its id, or 0 if there is no such name.  Also find predefined names
 * (posix_trace_start, ..., posix_trace_unnamed_userevent, and the names of calls) (EVOPEN-9).
 *
 * Wait-free, async-signal-safe.  Do not wait at a WRITING entry: the px_names_open() of this entry has
 * not returned, and only FREE entries follow.  So the name was absent when the entry was read.
 */
void px_names_find(const struct px_names *names, const char *name, unsigned int *id);

/*
 * Find name, or add it for the thread tid.  Return 0 and the id, ENOSPC if the table is full, or
 * ENAMETOOLONG if the name has more than PX_NAME_MAX bytes (EVOPEN-7).
 *
 * This function may wait as described above, in nanosleep(), so the caller must disable cancellation
 * (GEN-6).  It keeps errno.  It is not for signal handlers, although a handler that calls it gets an
 * id and does not deadlock.
 */
int px_names_open(struct px_names *names, const char *name, uint32_t tid, px_procfs_asked *alive,
		  unsigned int *id);

/*
 * Copy the name of id and a null byte to text.  Knows the predefined ids.  Return 0, or EINVAL if
 * the id has no name.  Wait-free, async-signal-safe.
 */
int px_names_get(const struct px_names *names, unsigned int id, char text[PX_NAME_MAX + 1]);

#endif
