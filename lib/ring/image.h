/* SPDX-License-Identifier: MIT */
/*
 * Copy a ring in use as a TXTB image that the viewer shows correctly.
 *
 * The viewer accepts any copy of the bytes of a ring's image.  But such a copy may hold slots in flight, its events
 * begin at the start of the ring and not with the oldest one, and a long pause between two events is lost when stamps
 * wrap.  The copy made here holds only whole records, oldest first, and the registry objects that they refer to.  Its
 * tick is long enough for the longest pause.  It begins with three fillers: the viewer needs some events to find out
 * that time rises.
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

/* Copy ring i of the view.  scale: nanoseconds of a counter tick, 16.48.  Return 0 or ENOMEM. */
int px_image_copy(const struct px_view *view, uint32_t i, uint64_t scale, struct px_image *image);

#endif
