/* SPDX-License-Identifier: MIT */
/*
 * The event names of a family of processes: name <-> id, in shared memory that the caller provides.
 *
 * A name gets the next free id and keeps it for the life of the table (EVOPEN-10).  The table is
 * filled in the order of ids and never shrinks, so whoever looks for a name compares it with the
 * entries in order; the first FREE entry ends the search and is where a new name goes.  That makes
 * names unique without a lock:
 *
 *	FREE -> WRITING(owner)		by compare-exchange; one writer wins
 *	WRITING(owner) -> READY		by the owner, after the name is stored (compare-exchange)
 *	WRITING(owner) -> DEAD		by anyone who gives the owner up; the id is never used
 *
 * Whoever wants to add a name waits for a WRITING entry to be decided, because it may be the very
 * name; so only FREE entries ever follow one that is WRITING.  The wait is short (a copy of 60
 * bytes) and bounded: after a millisecond the owner is asked for, and an owner that lives but does
 * not move (a stopped process, a reused tid) is given up after 100 ms, sooner with each one met in
 * the same call.  An owner that was given up too early learns it from its own last step and goes on
 * to another entry.
 *
 * The table is hostile input to a process of another owner: states are read once and checked, texts
 * are compared and copied within their bounds, and the wait is bounded whatever the table says.
 * Thread-safe, process-safe; fork needs no care, since entries belong to threads of any process.
 */
#ifndef PX_EVENT_NAMES_H
#define PX_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/procfs.h"
#include "event/eventset.h"

#define PX_NAME_MAX 59 /* bytes of an event name, without the null */

struct px_name_entry {
	uint32_t word; /* state in the low 2 bits, tid of the writer above */
	uint32_t hash;
	char text[PX_NAME_MAX + 1];
};

struct px_names {
	struct px_name_entry entry[PX_EVENT_USER_END - PX_EVENT_USER_FIRST];
};

/* Bytes that a table needs; zeroed memory is an empty table. */
#define PX_NAMES_SIZE (sizeof(struct px_names))

/*
 * Find name and store its id, or store 0 when it is not there.  Predefined names
 * (posix_trace_start, ..., posix_trace_unnamed_userevent, and those of calls) are found too (EVOPEN-9).
 *
 * Wait-free, async-signal-safe.  Does not wait at a WRITING entry: its px_names_open() has not
 * returned, and only FREE entries follow, so "not there" was true when the entry was read.
 */
void px_names_find(const struct px_names *names, const char *name, unsigned int *id);

/*
 * Find name, or add it for the thread tid.  Returns 0 and the id, ENOSPC when the table is full, or
 * ENAMETOOLONG when the name has more than PX_NAME_MAX bytes (EVOPEN-7).
 *
 * May wait as told above, in nanosleep(): the caller has cancellation disabled (GEN-6).  Keeps
 * errno.  Not for signal handlers, though one that does it gets an id and not a deadlock.
 */
int px_names_open(struct px_names *names, const char *name, uint32_t tid, px_procfs_asked *alive,
		  unsigned int *id);

/*
 * Copy the name of id and a null to text.  Knows the predefined ids.  Returns 0, or EINVAL when the
 * id has no name.  Wait-free, async-signal-safe.
 */
int px_names_get(const struct px_names *names, unsigned int id, char text[PX_NAME_MAX + 1]);

#endif
