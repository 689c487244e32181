/* SPDX-License-Identifier: MIT */
/*
 * What a process has mapped, from /proc/<id>/maps.  Async-signal-safe: the functions make only system calls, allocate
 * nothing, and are not cancellation points.  Keeps errno.
 */
#ifndef PX_BASE_PROCFS_MAPS_H
#define PX_BASE_PROCFS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Write the ids of the System V segments that the process has attached, at most max ids.  Return their number, or
 *
 *	-ESRCH	the process has ended
 *	-EPERM	this process has no permission to read the mappings, or it is a process of the kernel
 *	-EAGAIN	the process ends threads, and begins others, faster than this function can ask them
 *	-EMFILE, -ENFILE, or another error of /proc
 */
int px_procfs_segments(uint32_t pid, uint32_t id[], int max);

/*
 * Find a file whose name begins with prefix and that the process has mapped as shared memory without any rights
 * (PROT_NONE).  Store its name, without the directory, and its inode number.  Return false if there is none, if the
 * file is deleted, if the name needs more than size bytes, or if this process cannot read the mappings.
 */
bool px_procfs_file(uint32_t pid, const char *prefix, char *name, size_t size, uint64_t *inode);

/* Return true if the process has attached this segment, or if its mappings cannot be read. */
bool px_procfs_has_segment(uint32_t pid, uint32_t id);

/*
 * Return true if the process maps a file with `name` in its path.  Also return true if its mappings cannot be read.
 */
bool px_procfs_maps(uint32_t pid, const char *name);

#endif
