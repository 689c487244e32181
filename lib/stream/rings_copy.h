/* SPDX-License-Identifier: MIT */
/*
 * A copy of the rings of a stream that runs.  Writers, and the reader of the stream, do not notice: the copy is made by
 * loads only.  The copy is private memory that does not change, so the ordinary reader (reader.h) can read it.
 *
 * The copy holds what was recorded before one moment T: like the reader, it takes a counter T first, and then the heads
 * of all rings, and leaves out what is not older than T.  So if a program can observe that one event came before
 * another, and the copy has the second event, it also has the first.  It leaves out events that are being written
 * during the copy.
 *
 * The slot word shows whether a slot is whole, as it does for the reader (R3 in ring.h): the copy loads it before and
 * after the slot.
 */
#ifndef PX_STREAM_RINGS_COPY_H
#define PX_STREAM_RINGS_COPY_H

#include "ring/segment.h"

struct px_rings_copy {
	struct px_view view; /* view of the copy; valid until px_rings_copy_free() */
	size_t size;
	uint64_t state; /* state word of the stream at T */
	uint64_t until; /* T */
};

/* Copy the rings of this view.  Return 0 or ENOMEM. */
int px_rings_copy_make(const struct px_view *view, struct px_rings_copy *copy);
void px_rings_copy_free(struct px_rings_copy *copy);

#endif
