/* SPDX-License-Identifier: MIT */
/*
 * The default size of a ring for a preloaded program, which may record many calls.  Two users need it: the preloaded
 * object without the tool, and record --preload (bin/live/session.c).  If the rings are too small, a program with many
 * calls loses events: with rings of 1 MiB, sort(1) loses half of its events.  But each CPU has a ring, so a machine
 * with many CPUs gets smaller rings.
 */
#ifndef PX_PRELOAD_STANDALONE_RING_SIZE_H
#define PX_PRELOAD_STANDALONE_RING_SIZE_H

#include <stddef.h>
#include <unistd.h>

#define PX_RING_SIZE_LEAST ((size_t)1 << 20)
#define PX_RING_SIZE_MOST ((size_t)4 << 20)
#define PX_RING_SIZE_TOGETHER                                                                      \
	((size_t)32 << 20) /* size of all rings together; more if a ring would be too small */

/* Return the size in bytes. */
static inline size_t px_ring_size(void)
{
	size_t share = PX_RING_SIZE_TOGETHER / (size_t)sysconf(_SC_NPROCESSORS_CONF);

	if (share < PX_RING_SIZE_LEAST)
		return PX_RING_SIZE_LEAST;
	return share > PX_RING_SIZE_MOST ? PX_RING_SIZE_MOST : share;
}

#endif
