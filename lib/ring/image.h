/* SPDX-License-Identifier: MIT */
/*
 * A ring that writers use, copied as a TXTB image that the viewer shows right.
 *
 * Any copy of the bytes of a ring's image is accepted by the viewer; but it may hold slots in
 * flight, its order begins where the ring's does, and a long pause between two events is lost when
 * stamps wrap.  The copy made here holds whole records only, oldest first, on a tick that is long
 * enough for the longest pause, and the registry objects that they refer to.  It begins with three
 * fillers, since the viewer needs some events to find out that time rises.
 */
#ifndef PX_RING_IMAGE_H
#define PX_RING_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "ring/segment.h"

struct px_image {
	void *bytes; /* the caller frees it */
	size_t size;
	double tick_ns;
};

/* Copy ring i of the view.  scale: nanoseconds of a counter tick, 16.48.  0 or ENOMEM. */
int px_image_copy(const struct px_view *view, uint32_t i, uint64_t scale, struct px_image *image);

#endif
