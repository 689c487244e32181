/* SPDX-License-Identifier: MIT */
/*
 * The size of a ring in which all calls of a program are recorded, if nobody says: for the object by itself, and for
 * record --preload (bin/live/session.c).  With less, a program that calls much loses events: with 1M a sort loses half of
 * its own.  But a machine with many CPUs has many rings.
 */
#ifndef PX_PRELOAD_STANDALONE_RING_SIZE_H
#define PX_PRELOAD_STANDALONE_RING_SIZE_H

#include <stddef.h>
#include <unistd.h>

#define PX_RING_SIZE_LEAST ((size_t)1 << 20)
#define PX_RING_SIZE_MOST ((size_t)4 << 20)
#define PX_RING_SIZE_TOGETHER                                                                      \
	((size_t)32 << 20) /* of all CPUs' rings, where that is not too little for each */

/* Bytes. */
static inline size_t px_ring_size(void)
{
	size_t share = PX_RING_SIZE_TOGETHER / (size_t)sysconf(_SC_NPROCESSORS_CONF);

	if (share < PX_RING_SIZE_LEAST)
		return PX_RING_SIZE_LEAST;
	return share > PX_RING_SIZE_MOST ? PX_RING_SIZE_MOST : share;
}

#endif
