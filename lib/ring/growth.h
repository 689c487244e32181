/* SPDX-License-Identifier: MIT */
/*
 * Rings that get their memory in parts.
 *
 * Memory of a file that is allocated at the first access raises SIGBUS when the file system is full.  So all memory of
 * a segment is allocated before the stream exists.  For a process that lives a few milliseconds, this costs more than
 * everything else.  With growth, a stream begins with memory for the first slots of each ring.  A writer that finds no
 * more room allocates the next part of its ring, and only then uses it.  No thread ever accesses memory that is not
 * allocated.
 *
 * The tail of a ring says how much memory the ring has.  Writers of a bounded ring reserve slots only up to a fixed
 * distance above tail.  While a ring is *partial*, its tail is negative: it is the number of slots with memory, minus
 * the number of all slots.  So no writer needs a further test.  While a ring is partial, the reader does not publish
 * what it has consumed.  That would make no room, because no position below nr_slots has been used twice.  When all
 * slots have memory, tail is 0.  From then on tail belongs to the reader, as in every other ring.
 *
 * If there is no more memory, the ring has no room, and the stream stops automatically.  The controller tries again
 * before it starts the stream (flush.c).
 *
 * Only a bounded stream with a log can grow, in a file of the user (create.c).  There are two kinds:
 *
 *	PX_GROWS_ALONE	a process made the stream for itself, and no other process attaches it while it lives.  A
 *			process that completes its log allocates the rest first (orphan.c)
 *	PX_GROWS_SHARED	the stream has very large rings (txtrace_attr_setgrowth()), of which most programs use only a
 *			small part.  Its controller also allocates memory, ahead of the writers, so that they seldom do
 */
#ifndef PX_RING_GROWTH_H
#define PX_RING_GROWTH_H

#include <stdbool.h>

#include "ring/segment.h"

enum px_grows { PX_GROWS_NOT, PX_GROWS_ALONE, PX_GROWS_SHARED };

/* If this is set, the streams of this process grow where that is possible. */
extern bool px_growth_is_wanted __attribute__((visibility("hidden")));

/* Return true if rings of this geometry are large enough to grow. */
bool px_growth_can_begin(const struct px_geometry *geometry);

/*
 * Allocate and map the first part of each ring of a segment of zeros.  The bytes before the rings are allocated.
 * Return false if this is impossible: there is no memory, or the kernel is older than 5.14 and cannot allocate memory
 * without SIGBUS.
 */
bool px_growth_allocate(const struct px_mapping *mapping, const struct px_geometry *geometry,
			enum px_grows kind);

/*
 * Make all rings partial, in a stream of this kind.  Call this when the reader is initialised, and before the stream is
 * published.
 */
void px_growth_begin(struct px_view *view, enum px_grows kind);

/* Return true if the ring has no memory for some of its slots. */
PX_INLINE bool px_growth_is_partial(const struct px_view *view, const struct px_ring_control *control)
{
	return px_unlikely(view->grows) && (int64_t)px_read_once(&control->tail) < 0;
}

/*
 * Call this if a ring has no room for n slots with this limit.  Return true if it has room now.  Async-signal-safe,
 * keeps errno.
 */
bool px_growth_make_room(const struct px_view *view, struct px_ring_control *control, uint32_t n,
			 uint64_t limit);

/*
 * If a ring has used half of its memory, allocate its next part.  For the controller: if it calls this often enough,
 * the writers always have memory.
 */
void px_growth_keep_ahead(const struct px_view *view);

/* Return true if all slots that are reserved have memory. */
bool px_growth_has_memory(const struct px_view *view);

/*
 * After an automatic stop: let each partial ring have room for many events.  Return false if there is not enough
 * memory. The rings of a stream of one process get all their memory.
 */
bool px_growth_make_room_everywhere(const struct px_view *view);

/* Allocate the rest of all rings.  Return false if there is not enough memory. */
bool px_growth_finish(const struct px_view *view);

#endif
