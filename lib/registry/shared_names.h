/* SPDX-License-Identifier: MIT */
/*
 * The event names of related processes, in a table that other processes can find.
 *
 * Related processes share one name table, so that an id has the same meaning in all of them (MAP-2).  The related
 * processes are a process, its children made by fork(), and the programs that they execute while a stream traces them.
 * The table also records which process opened which names.  The names that a process has opened since its last exec
 * count against its limit.  A controller that creates a stream for the process lists these names (CREATE-7).
 *
 * A process that no other process traces needs no such table.  It has a private table: memory that it shares only with
 * its children made by fork().  Other processes find the names in a file (names_file.h).  The first controller that
 * traces one of these processes makes a shared table with the same names.  Each of these processes then moves to that
 * table before it opens another name, or when it attaches a stream.
 *
 * The memory of a shared table is a System V segment.  The process that creates the segment attaches it, and at once
 * marks it for removal.  While any process has the segment attached, Linux lets other processes attach it too.  So the
 * kernel counts the processes that use the segment.  A child made by fork() has it attached too.  When the last of
 * these processes has ended, for any reason, the kernel removes the segment.  A controller finds the number of the
 * segment in the target's /proc/<pid>/maps.  Unlike a file, the segment cannot be truncated while processes have it
 * mapped.  If no such segment can be created, other processes cannot trace a process that has opened names.
 *
 * The word of an entry identifies the process of the entry.  Any process may make an entry for any process that shares
 * the table:
 *
 *	0 -> word			by compare-exchange, in the first entry that is 0
 *	word of a dead process -> TAKEN -> 0	by a process that finds no free entry;
 *						it clears the set of opened types before it writes 0
 *
 * If two processes make an entry for the same process at the same time, there may be two entries.  So a process that
 * has made an entry searches again.  If it finds an entry with a lower index, it frees its own entry.
 *
 * A process of another user must treat the table as hostile input.  All functions are async-signal-safe, except
 * px_shared_names_of(), px_shared_names_sweep(), and the functions that create a table.
 */
#ifndef PX_REGISTRY_SHARED_NAMES_H
#define PX_REGISTRY_SHARED_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/descriptions.h"
#include "event/eventset.h"
#include "event/names.h"

#define PX_SHARED_NAMES_MEMBERS 256

struct px_shared_names_member {
	uint64_t word;	      /* px_procfs_word() of the process; 0: the entry is free */
	uint64_t incarnation; /* incarnation of the process when it joined this table; 0: unknown */
	struct px_eventset opened;
};

struct px_shared_names {
	uint64_t magic; /* not 0: the table is shared, and complete */
	/* Identifies a private table with a file, and the shared table that was made from it; 0: there is no file. */
	uint64_t key;
	uint32_t founder; /* pid of the process that made the private table */
	uint32_t pid_namespace;
	uint32_t moved_to; /* in a private table: number of the shared table that replaces it; 0: none */
	uint32_t is_doomed; /* in the file of a private table: a process removes the file (names_file.c) */
	uint32_t reserved[8];
	struct px_names names;
	struct px_descriptions descriptions; /* of the types with these names */
	struct px_shared_names_member member[PX_SHARED_NAMES_MEMBERS] __attribute__((aligned(8)));
	uint64_t unused[7]; /* makes the size unusual, so that no other segment has the same size by chance */
};

_Static_assert(sizeof(struct px_shared_names) == 444416, "the same for each word size (layout.h)");

/* A name table that this process has mapped. */
struct px_shared_names_ref {
	struct px_shared_names *shared_names;
	uint32_t number;
};

/*
 * A process has one table of its own, and a controller also has the tables of its targets.  A child made by fork()
 * keeps only its parent's own table.  So a new child has only one table, and a controller finds the right one.  A table
 * that a process creates or attaches counts as the table of a target until px_shared_names_keep() makes it the own
 * table.
 */

/* Create a table that belongs to this user.  Return 0, EPERM or ENOMEM. */
int px_shared_names_make(uid_t owner, struct px_shared_names_ref *ref);

/*
 * Create a table as px_shared_names_make() does, but let no process attach it before px_shared_names_complete().
 */
int px_shared_names_prepare(uid_t owner, struct px_shared_names_ref *ref);

/*
 * Create and remove a segment, as px_shared_names_make() does.  Return why the kernel refuses it, or 0.  Keeps errno.
 */
int px_shared_names_check(void);

/*
 * The memory of a prepared table has a copy of another table: of its names and its entries.  Remove what is not whole,
 * and let other processes attach the table.
 */
void px_shared_names_complete(struct px_shared_names *shared_names);

/*
 * Return true if at least half of the System V segments that the system allows are in use.  Then a process that no
 * other process traces does not create another segment, because other programs need segments too.
 */
bool px_shared_names_are_scarce(void);

/* Create a table only for this process and its children made by fork().  Return 0 or ENOMEM. */
int px_shared_names_make_private(struct px_shared_names_ref *ref);

/* Return true if this is the number of a private table. */
bool px_shared_names_is_private(uint32_t number);

/*
 * Attach the table with this number.  The segment must be a table, belong to this user, be created by this user or
 * root, and give other users no access.  Return 0, EACCES, ENOENT, ENOMEM, or EAGAIN if the table is not complete yet.
 */
int px_shared_names_attach(uint32_t number, uid_t owner, struct px_shared_names_ref *ref);

/* Make this table the own table of the process.  Children made by fork() keep it. */
void px_shared_names_keep(const struct px_shared_names_ref *ref);

/* Unmap the table.  No thread of this process may be using it. */
void px_shared_names_detach(struct px_shared_names_ref *ref);

/*
 * Find in /proc the number of the table that process `pid` uses as its own, or 0 if there is none.  A controller also
 * has the tables of its targets attached.  One of them may have been its own table before exec.  Its own table is the
 * table that it joined last.  Set *has_entered to true if the process has joined the table.  If it has joined none, the
 * table may belong to a target of the process.  Return 0, or the error of px_procfs_segments().
 */
int px_shared_names_of(uint32_t pid, uid_t owner, uint32_t *number, bool *has_entered);

/*
 * A process may be killed after it has created a segment, and before it has marked the segment for removal.  Remove the
 * segments of such processes.  Not async-signal-safe.
 */
void px_shared_names_sweep(void);

/* Return the entry of the process with this word, or NULL if it has none or the word is 0. */
struct px_shared_names_member *px_shared_names_find(struct px_shared_names *shared_names,
						    uint64_t word);

/*
 * Return the entry of the process with this word, and make an entry if necessary.  Return NULL if there are too many
 * processes.
 */
struct px_shared_names_member *px_shared_names_enter(struct px_shared_names *shared_names,
						     uint64_t word);

#endif
