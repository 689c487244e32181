/* SPDX-License-Identifier: MIT */
/*
 * The file of a private name table (shared_names.h).
 *
 * A process that no other process traces keeps its names in private memory, because the number of System V segments is
 * limited for all programs together.  But a controller has to know these names, even if the process is stopped.  So
 * each private table has a file, names.<layout>.<pid>.<number>, in the directory of the registry.  The file looks like
 * struct px_shared_names, but no process reads it like memory: another process can truncate the file, and then only a
 * read or a write fails.  The processes of the table map the first page of the file without any rights, and never
 * access it.  This mapping only shows the file to a controller, in /proc/<pid>/maps: children made by fork() have it,
 * too, and exec removes it.
 *
 * A process stores each name that it opens, and its entry, before it uses the id; and each description.  Then it reads
 * whether a controller has made a shared table.  A controller stores the number of the shared table in the file, and
 * then copies the names.  So either the copy has the name, or the process finds the number: then it opens the name
 * again, in the shared table.  Only controllers, and the process that makes the file, need the lock of the registry.
 *
 * The last process of the table removes the file when it exits.  If it is killed, other processes remove the file
 * later.  A child whose parent ends at once may enter itself too late, as many daemons do: then it has no file, and
 * makes a shared table.
 */
#ifndef PX_REGISTRY_NAMES_FILE_H
#define PX_REGISTRY_NAMES_FILE_H

#include "base/layout.h"
#include "registry/shared_names.h"

#define PX_NAMES_FILE_PREFIX PX_LAYOUT_PREFIX("names")

/*
 * Make the file of a new private table.  The caller holds the lock of the registry, and makes its entry in the table
 * before it releases the lock.  Return 0, or an error after which the table has no file.  Not async-signal-safe.
 */
int px_names_file_make(struct px_shared_names *names);

/*
 * Store the name with this id (PX_EVENT_NONE: no name) and an entry (NULL: no entry) of a private table in its file.
 * Set *moved_to to the number of the shared table that replaces this table, or 0.  If the table has no file, only set
 * *moved_to.  Return 0, or an error if other processes may not find the table by its file.  Async-signal-safe.
 */
int px_names_file_store(const struct px_shared_names *names, unsigned int id,
			const struct px_shared_names_member *member, uint32_t *moved_to);

/* Do the same for the description of this type. */
int px_names_file_store_description(const struct px_shared_names *names, unsigned int id, uint32_t *moved_to);

/*
 * Attach the shared table that replaces the private table of an open file, and make it if there is none.  owner: the
 * user of the processes of the table.  found: number of a table that may be the shared one although the file does not
 * have it, or 0.  The caller holds the lock of that user's registry.  Return 0, EACCES (the file is not valid), EPERM
 * or ENOMEM.
 */
int px_names_file_move(int fd, uid_t owner, uint32_t found, struct px_shared_names_ref *ref);

/*
 * Do the same for a private table of this process, without the lock.  The table may have no file, or a file that this
 * process cannot open.  Return EAGAIN if another process is moving the table: then call again.  Async-signal-safe.
 */
int px_names_file_move_own(struct px_shared_names *names, struct px_shared_names_ref *ref);

/* Remove the file if no other process of the table is alive.  self: word of this process. */
void px_names_file_leave(const struct px_shared_names *names, uint64_t self);

/* Remove files without living processes.  The caller holds the lock of the registry.  Not async-signal-safe. */
void px_names_file_sweep(void);

#endif
