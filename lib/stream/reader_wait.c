/* SPDX-License-Identifier: MIT */
/* Reservations that are not committed yet: wait for their writers, but not for long. */
#include "stream/reader_private.h"

#include "base/procfs.h"
#include "trace/frames.h"

#define GIVE_UP_NS 50000000 /* until then, a living owner may be waiting for a CPU */

/*
 * The reader waits no longer for the reservation at the cursor.  In the ring of a CPU the sequence has claimed all
 * slots that will hold a record.
 */
static void stop_waiting(struct px_reader *reader, uint32_t i, enum px_look look, bool is_gone)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);

	if (is_gone) {
		px_ring_reclaim(&ring, cursor->position, cursor->head);
	} else if (look == PX_LOOK_UNCLAIMED && i >= reader->view->rings.nr_shared) {
		cursor->position++;
		cursor->extra++;
	} else if (look != PX_LOOK_UNCLAIMED || !px_ring_revoke(&ring, cursor->position)) {
		px_aside_add(reader, i);
	}
}

bool px_reader_is_pending(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	enum px_look look = px_ring_look(&ring, cursor->position, cursor->head, &cursor->word);
	enum px_procfs procfs = PX_PROCFS_RUNNING;
	uint64_t now, waited;

	if (look == PX_LOOK_CLAIMED || look == PX_LOOK_UNCLAIMED) {
		px_calls_tidy(); /* otherwise this thread could wait for its own claim */
		look = px_ring_look(&ring, cursor->position, cursor->head, &cursor->word);
	}
	if (look != PX_LOOK_CLAIMED && look != PX_LOOK_UNCLAIMED)
		return false;
	now = px_clock_monotonic_ns();
	/* One wait is for all slots that were reserved when the wait began.  Begin a new wait only at a later slot. */
	if ((int64_t)(cursor->pending_until - cursor->position) <= 0) {
		cursor->pending_until = cursor->head;
		cursor->pending_since_ns = now;
	}
	waited = reader->is_in_a_hurry ? GIVE_UP_NS : now - cursor->pending_since_ns;
	if (waited < PX_READER_GRACE_NS)
		return true;
	if (look == PX_LOOK_CLAIMED)
		procfs = px_procfs_of(px_word_tid(cursor->word));
	if (procfs == PX_PROCFS_RUNNING && waited < GIVE_UP_NS)
		return true;
	PX_TESTPOINT("reader.pending.passed");
	stop_waiting(reader, i, look, procfs == PX_PROCFS_GONE);
	return false;
}
