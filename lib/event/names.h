/* SPDX-License-Identifier: MIT */
/*
 * The event names of the processes that share a name table.  The table assigns an id to each name.  It is in shared
 * memory that the caller provides.
 *
 * A name gets the next free id and keeps it while the table exists (EVOPEN-10).  Threads fill the
 * table in the order of ids, and it never shrinks.  A thread that looks for a name compares it with
 * the entries in order.  The first FREE entry ends the search, and a new name goes there.  So names
 * are unique without a lock.  The states of an entry change as follows:
 *
 *	FREE -> WRITING(owner)		by compare-exchange; only one thread succeeds and is the owner
 *	WRITING(owner) -> READY		by the owner, after it stored the name (compare-exchange)
 *	WRITING(owner) -> DEAD		by any thread that gives up waiting for the owner; the id is never used
 *
 * A thread that wants to add a name waits at each WRITING entry, because the owner may be storing the same name there.
 * So after a WRITING entry there are only FREE entries.  The wait is short (a copy of 60 bytes) and bounded.  After a
 * millisecond the waiter checks whether the owner is alive.  If the owner is alive but does not proceed (a stopped
 * process, a reused tid), the waiter gives up after 100 ms.  If the same call meets more such owners, it waits for each
 * of them only half as long as for the previous one.  If the waiter gives up and the owner continues later, the owner's
 * last compare-exchange fails.  Then the owner uses another entry.
 *
 * A process of another user may write to the table, so its contents are hostile input.  The functions read each state
 * once and check it, they read texts only within their bounds, and their wait is bounded for any contents of the table.
 * The functions are thread-safe and process-safe.  They need no fork handler, because the owner of an entry may be a
 * thread of any process.
 */
#ifndef PX_EVENT_NAMES_H
#define PX_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/procfs.h"
#include "event/eventset.h"

#define PX_NAME_MAX 59 /* maximum bytes of an event name, without the null byte */

struct px_name_entry {
	uint32_t word; /* low 2 bits: state; other bits: tid of the owner */
	uint32_t hash;
	char text[PX_NAME_MAX + 1];
};

struct px_names {
	struct px_name_entry entry[PX_EVENT_USER_END - PX_EVENT_USER_FIRST];
};

/* Size of a table in bytes.  Memory filled with zeros is an empty table. */
#define PX_NAMES_SIZE (sizeof(struct px_names))

/*
 * Find name and store its id, or 0 if there is no such name.  Predefined names also have ids:
 * posix_trace_start, ..., posix_trace_unnamed_userevent, and the names of calls (EVOPEN-9).
 *
 * Wait-free, async-signal-safe.  The function does not wait at a WRITING entry, but ends the search there.  Only FREE
 * entries follow.  The px_names_open() call that writes this entry has not returned yet.  So no call that has returned
 * has added the name.
 */
void px_names_find(const struct px_names *names, const char *name, unsigned int *id);

/*
 * Find name, or add it for the thread tid. alive() reports whether the owner of an entry still
 * exists.  Return 0 and the id, ENOSPC if the table is full, or ENAMETOOLONG if the name has more
 * than PX_NAME_MAX bytes (EVOPEN-7).
 *
 * The function may wait in nanosleep(), as described above, so the caller must disable cancellation
 * (GEN-6).  It keeps errno.  Do not call it from signal handlers.  If a handler calls it anyway,
 * the handler gets an id and does not deadlock.
 */
int px_names_open(struct px_names *names, const char *name, uint32_t tid, px_procfs_asked *alive,
		  unsigned int *id);

/*
 * Add all names of another table, each with the id that it has there.  tid and alive: as for px_names_open().  Return
 * false if the table has another name for one of these ids, or another id for one of these names.  The function may
 * wait as px_names_open() does.  It keeps errno.
 */
bool px_names_adopt(struct px_names *names, const struct px_names *from, uint32_t tid, px_procfs_asked *alive);

/*
 * Copy the name of id and a null byte to text.  The id may also be a predefined one.  Return 0, or
 * EINVAL if the id has no name.  Wait-free, async-signal-safe.
 */
int px_names_get(const struct px_names *names, unsigned int id, char text[PX_NAME_MAX + 1]);

/*
 * Make a copy of a table usable that was made while threads opened names in the original.  An entry that is not whole
 * becomes DEAD, or FREE if no whole entry follows.  No other thread may use the copy yet.
 */
void px_names_settle_copy(struct px_names *copy);

#endif
