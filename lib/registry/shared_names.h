/* SPDX-License-Identifier: MIT */
/*
 * The event names of a family of processes, where other processes can find them.
 *
 * A family shares one table of names, so that an id means the same in all of them (MAP-2): a process,
 * its children made by fork, and whatever they become by exec while a stream traces them.  Beside the
 * names stands which process has opened which of them: that is what counts against its limit, what
 * exec ends, and what a controller has to list before the target has made its next step (CREATE-7).
 *
 * The memory is a System V segment that is marked for removal as soon as it is attached.  Linux goes
 * on letting others attach it as long as somebody has it, so the kernel does the counting: children
 * have it by fork, and when the last process is gone, however it ended, so is the table.  A controller
 * finds its number in the target's /proc/<pid>/maps.  Unlike a file it cannot be cut under those who
 * have it mapped.  Where there is no such memory a process makes a private one: it serves it and its
 * children made by fork, and nobody else can have it, nor take another one for it.
 *
 * A place for a process is its word.  Anyone may make one for any process of the family:
 *
 *	0 -> word			by compare-exchange, in the first place that is 0
 *	word of a dead one -> TAKEN -> 0	by whoever finds no place; clears the set in between
 *
 * Two that make one for the same process at the same time may get two places: so who has made one
 * looks again, and gives his up if there is one with a lower number.
 *
 * The table is hostile input for a process of another user.  Async-signal-safe, but for making, and for
 * px_shared_names_of().
 */
#ifndef PX_REGISTRY_SHARED_NAMES_H
#define PX_REGISTRY_SHARED_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/eventset.h"
#include "event/names.h"

#define PX_SHARED_NAMES_MEMBERS 256

struct px_shared_names_member {
	uint64_t word;	      /* px_procfs_word(); 0: free */
	uint64_t incarnation; /* of the process, since this table is its own; 0: not known to be */
	struct px_eventset opened;
};

struct px_shared_names {
	uint64_t magic;
	uint64_t reserved[7];
	struct px_names names;
	struct px_shared_names_member member[PX_SHARED_NAMES_MEMBERS];
	uint64_t unused[7]; /* so that its size is one that nobody else's memory has by chance */
};

/* A family as this process has it. */
struct px_shared_names_ref {
	struct px_shared_names *shared_names;
	uint32_t number;
};

/*
 * A process's own table goes on in its children by fork; those of its targets do not, so that a child which has not
 * made a step yet has one table, and controllers need not guess.  What is made or attached is taken for a target's
 * until it is kept.
 */

/* Make one that belongs to this user.  0, EPERM or ENOMEM. */
int px_shared_names_make(uid_t owner, struct px_shared_names_ref *ref);

/* Make one for this process and its children by fork alone.  0 or ENOMEM. */
int px_shared_names_make_private(struct px_shared_names_ref *ref);

/*
 * Attach the one with this number, if it is one, belongs to this user, was made by it or by root, and is closed to
 * others.  0, EACCES, ENOENT or ENOMEM.
 */
int px_shared_names_attach(uint32_t number, uid_t owner, struct px_shared_names_ref *ref);

/* It is this process's own: children by fork have it too. */
void px_shared_names_keep(const struct px_shared_names_ref *ref);

/* Give it back; nobody in this process may be using it. */
void px_shared_names_detach(struct px_shared_names_ref *ref);

/*
 * The number of the family whose table this process has, from /proc; 0: it has none.  A controller
 * has those of its targets too, and one of these may have been its own before exec: its own is that into which it
 * came last.  *has_entered: it has, into this one; else it may be another's, and the process has not come into its
 * own yet.  False: that cannot be told, since its mappings are not ours to
 * see, or it has ended meanwhile.
 */
bool px_shared_names_of(uint32_t pid, uid_t owner, uint32_t *number, bool *has_entered);

/*
 * Remove what processes have left that were killed between making their memory and marking it for removal.  Not
 * async-signal-safe.
 */
void px_shared_names_sweep(void);

/* The place of a process; NULL: it has none, or its word is 0. */
struct px_shared_names_member *px_shared_names_find(struct px_shared_names *shared_names,
						    uint64_t word);

/* The same, making one.  NULL: there are too many processes. */
struct px_shared_names_member *px_shared_names_enter(struct px_shared_names *shared_names,
						     uint64_t word);

#endif
