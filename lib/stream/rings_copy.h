/* SPDX-License-Identifier: MIT */
/*
 * A copy of the rings of a stream that runs.  The copy does not disturb the writers or the reader of the stream,
 * because it only loads from their memory.  The copy is private memory that does not change, so the ordinary reader
 * (reader.h) can read it.
 *
 * The copy holds the records that are older than one moment T.  Like the reader, this module first reads a counter T,
 * and then the heads of all rings.  It leaves out records that are not older than T.  So if a program can observe that
 * one event came before another, and the copy has the second event, it also has the first.  It leaves out events that
 * are being written during the copy.
 *
 * As in the reader, the slot word shows whether a slot is whole (R3 in ring.h): this module loads the word before and
 * after it copies the slot.
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
