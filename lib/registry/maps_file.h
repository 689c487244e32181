/* SPDX-License-Identifier: MIT */
/*
 * Files with the mappings of traced processes.
 *
 * A controller reads /proc/<pid>/maps to find the program and the shared objects of a process that it traces.  A
 * process may end before the controller does so.  So each process that attaches a stream of another process stores its
 * mappings in a file, maps.<layout>.<index>.<generation>.<pid>, in the directory of the registry.  The child of a fork
 * has the mappings of its parent, so its file is a link.  At its end a process stores its mappings again if the code
 * has changed, but not before it executes another program.
 *
 * A process that executes another program has one file for each program.  A program is known by its *first handle*:
 * the handles of threads come from one counter, so all threads of a program have handles from this one on, and all
 * threads of the programs that the process executed before have smaller ones.  (The counter restarts after 2^24
 * threads; two handles are compared as if they were less than 2^23 threads apart.)  When a program stores its file,
 * that of the program before it gets that program's first handle at the end of its name.
 *
 * The first line of the file has the first handle of the program, and that of the program before it, or 0.  Then
 * follow the lines of /proc/<pid>/maps that belong to files.  The file is renamed into place when it is complete.  The
 * files of a stream are removed together with its segment.  There are none for a target of another user: a controller
 * must not believe what that user writes.
 */
#ifndef PX_REGISTRY_MAPS_FILE_H
#define PX_REGISTRY_MAPS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

/*
 * Store the mappings of this process, with this pid, for the stream in a slot.  first: the first handle of the program.
 * Do nothing if the stream has no segment file, or if the file cannot be written.  Keeps errno.  Async-signal-safe.
 */
void px_maps_file_store(uint32_t index, const struct px_registry_slot *slot, uint32_t pid, uint32_t first);

/*
 * This process is a child of `parent` by fork, and has just taken the stream over.  Return false if there is the file
 * of a process that had this pid before.  Then this process must store its own.  Keeps errno.  Async-signal-safe.
 */
bool px_maps_file_inherit(uint32_t index, uint32_t generation, uint32_t parent, uint32_t pid);

/* Return true if the code of this process has changed since px_maps_file_store().  Keeps errno.  Async-signal-safe. */
bool px_maps_file_is_old(void);

/*
 * List the modules of another process, in the format of modules.h.  If it has ended, it must have stored its mappings
 * for a stream of our user that still exists.  Write as many whole lines as fit.  Return their length, or 0 if they are
 * not known.  Keeps errno.  Not async-signal-safe.
 */
size_t px_maps_file_list(uint32_t pid, char *text, size_t size);

/*
 * Do the same for the program of a process to which the thread with this handle belonged, as that program stored them;
 * 0: for its last program. Return its first handle, or 0 if it is not known.  text: NULL if only the first handle is
 * wanted; then length is not used.
 */
uint32_t px_maps_file_list_of(uint32_t pid, uint32_t thread, char *text, size_t size, size_t *length);

#endif
