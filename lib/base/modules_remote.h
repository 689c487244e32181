/* SPDX-License-Identifier: MIT */
/*
 * List the program and the shared objects that are loaded into another process, in the format of
 * modules.h.  The list comes from /proc/<pid>/maps and the mapped files.
 */
#ifndef PX_BASE_MODULES_REMOTE_H
#define PX_BASE_MODULES_REMOTE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Do the same as px_modules_list() for another process.  Also return 0 if that process has ended, or if this process
 * has no permission to inspect it.
 */
size_t px_modules_remote_list(uint32_t pid, char *text, size_t size);

/*
 * Do the same for a process of which an open file has the mappings, as lines of /proc/<pid>/maps.  Read from the offset
 * of the file.
 */
size_t px_modules_list_of_maps(int maps_fd, char *text, size_t size);

#endif
