/* SPDX-License-Identifier: MIT */
/*
 * The default size of a ring for a preloaded program, which may record many calls.  Two users need it: the preloaded
 * object without the tool, and record --preload (bin/live/session.c).  If the rings are too small, a program with many
 * calls loses events: with rings of 1 MiB, sort(1) loses half of its events.  But each CPU has a ring, so a machine
 * with many CPUs gets smaller rings.  The limit of the size of files (ulimit -f) also holds for shared memory.
 */
#ifndef PX_PRELOAD_STANDALONE_RING_SIZE_H
#define PX_PRELOAD_STANDALONE_RING_SIZE_H

#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#define PX_RING_SIZE_LEAST ((size_t)1 << 20)
#define PX_RING_SIZE_MOST ((size_t)4 << 20)
#define PX_RING_SIZE_TOGETHER                                                                      \
	((size_t)32 << 20) /* size of all rings together; more if a ring would be too small */

/* Rings that do not fit into the shared memory are halved down to this size. */
#define PX_RING_SIZE_HALVED ((size_t)64 << 10)

/* Of the largest file: a ring needs more than its size, and the segment more than a ring. */
#define PX_RING_SIZE_PARTS 8

/* Return the size in bytes. */
static inline size_t px_ring_size(void)
{
	size_t share = PX_RING_SIZE_TOGETHER / (size_t)sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit limit;

	if (share < PX_RING_SIZE_LEAST)
		share = PX_RING_SIZE_LEAST;
	if (share > PX_RING_SIZE_MOST)
		share = PX_RING_SIZE_MOST;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur / PX_RING_SIZE_PARTS < share)
		share = (size_t)limit.rlim_cur / PX_RING_SIZE_PARTS;
	return share;
}

/* Return the size to try if rings of this size do not fit, or 0 if there is none. */
static inline size_t px_ring_size_below(size_t size)
{
	return size / 2 >= PX_RING_SIZE_HALVED ? size / 2 : 0;
}

#endif
