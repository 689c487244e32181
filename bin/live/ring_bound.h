/* SPDX-License-Identifier: MIT */
/* Computes how large rings may grow without harm to the other programs on this machine. */
#ifndef TXTRACE_LIVE_RING_BOUND_H
#define TXTRACE_LIVE_RING_BOUND_H

#include <stddef.h>

/*
 * Return a size for each ring.  All rings together then take at most 1 GiB, an eighth of the available memory and of
 * the limit of the container, half of the room in the directory for shared memory, and an eighth of the limits of the
 * address space and of the size of files.  Return 0 if that is less than `least` bytes for a ring.
 */
size_t ring_bound(size_t least);

#endif
