/* SPDX-License-Identifier: MIT */
/*
 * Files with the mappings of traced processes.
 *
 * A controller reads /proc/<pid>/maps to find the program and the shared objects of a process that it traces.  A
 * process may end before the controller does so.  So each process that attaches a stream of another process stores its
 * mappings in a file, maps.<layout>.<index>.<generation>.<pid>, in the directory of the registry.  The child of a fork
 * has the mappings of its parent, so its file is a link.  At its end a process stores its mappings again if the code
 * has changed.
 *
 * The file has the lines of /proc/<pid>/maps that belong to files.  It is renamed into place when it is complete.  The
 * files of a stream are removed together with its segment.  There are none for a target of another user: a controller
 * must not believe what that user writes.
 */
#ifndef PX_REGISTRY_MAPS_FILE_H
#define PX_REGISTRY_MAPS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

/*
 * Store the mappings of this process, with this pid, for the stream in a slot.  Do nothing if the stream has no segment
 * file, or if the file cannot be written.  Keeps errno.  Async-signal-safe.
 */
void px_maps_file_store(uint32_t index, const struct px_registry_slot *slot, uint32_t pid);

/* This process is a child of `parent` by fork, and has just taken the stream over.  Keeps errno.  Async-signal-safe. */
void px_maps_file_inherit(uint32_t index, uint32_t generation, uint32_t parent, uint32_t pid);

/* Return true if the code of this process has changed since px_maps_file_store().  Keeps errno.  Async-signal-safe. */
bool px_maps_file_is_old(void);

/*
 * List the modules of another process, in the format of modules.h.  If it has ended, it must have stored its mappings
 * for a stream of our user that still exists.  Write as many whole lines as fit.  Return their length, or 0 if they are
 * not known.  Keeps errno.  Not async-signal-safe.
 */
size_t px_maps_file_list(uint32_t pid, char *text, size_t size);

#endif
