/* SPDX-License-Identifier: MIT */
/*
 * Copy a ring, while writers may use it, to a TXTB image that the viewer shows correctly.
 *
 * The viewer accepts any copy of the bytes of a ring's image.  But a plain copy has three faults.  It may hold slots
 * that writers have not committed.  It does not begin with the oldest event.  If the stamps wrap in a long pause
 * between two events, the copy does not show how long the pause was.  This module makes a copy that holds only whole
 * records, oldest first.  The copy also has objects for the threads of these records, and for all named event types.
 * Its tick is long enough for the longest pause.  It begins with three filler events, because the viewer needs some
 * events to find out that time rises.
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

/*
 * Copy ring i of the view.  scale: length of a counter tick in nanoseconds, as a fixed-point number with 48 fractional
 * bits.  Return 0 or ENOMEM.
 */
int px_image_copy(const struct px_view *view, uint32_t i, uint64_t scale, struct px_image *image);

#endif
