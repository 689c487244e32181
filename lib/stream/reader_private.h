/* SPDX-License-Identifier: MIT */
/*
 * Between the files of the reader.
 *
 * The reader sets reservations aside (reader_aside.c).  The thread that claimed such a reservation was stopped, or got
 * no CPU, before it committed its record.  The cursor of the ring has passed the slots.  An entry ends when the reader
 * finds one of these in its slots:
 *
 *	a record		report it, although younger events were reported before
 *	void slots		there was no record: the writer has recorded its event in other slots
 *	void slots with a tid	the owner was dead: count the record as abandoned
 *	newer positions		count the record as overwritten
 *
 * In a bounded stream, the ring's tail stays at the oldest entry while two conditions are true: the stream is not
 * AUTO_FULL, and the slots from the entry to head use at most half of the room.  So no writer uses the slots of the
 * entry again before the reader has seen its record.  Otherwise the tail moves on.  Then the entry is like an entry of
 * a ring that loops: its slots are safe until the owner commits, and after that until another writer reaches them.
 *
 * An entry counts as one record in `position - extra` of its cursor, until the reader knows the exact number.
 */
#ifndef PX_STREAM_READER_PRIVATE_H
#define PX_STREAM_READER_PRIVATE_H

#include "ring/growth.h"
#include "stream/reader.h"

#define PX_READER_GRACE_NS 1000000 /* after this time, ask the kernel about the owner */

PX_INLINE struct px_ring px_reader_ring(const struct px_reader *reader, uint32_t i)
{
	return px_rings_get(&reader->view->rings, i);
}

/* reader_aside.c */

/*
 * Set aside the reservation at the cursor of this ring, and move the cursor past the reservation.  If it is committed
 * or given up by now, do nothing.
 */
void px_aside_add(struct px_reader *reader, uint32_t i);

/* Check all entries.  From time to time, ask the kernel about their owners, and free the slots of dead threads. */
void px_aside_look(struct px_reader *reader);

/* Return the entry with the oldest record that can be read, or NULL. */
struct px_aside *px_aside_first(const struct px_reader *reader);

/*
 * Call this after the record of the entry was read.  nr_slots is the number of slots of the record.  If nr_slots is 0,
 * the record could not be read, and is lost.
 */
void px_aside_done(struct px_reader *reader, struct px_aside *aside, uint32_t nr_slots);

/* Return the tail that keeps the slots of this ring's entries: `position`, or a lower position. */
uint64_t px_aside_tail(struct px_reader *reader, uint32_t i, uint64_t position);

/* Count the records of all entries as abandoned. */
void px_aside_abandon_all(struct px_reader *reader);

/* reader.c */

/*
 * Read a counter, and then the heads of all rings: the merge depends on this order.  px_clock_anchor() reads the
 * counter with fences.  Its last read follows the reads that give T, so the loads of the heads come after T.
 */
void px_reader_read_heads(struct px_reader *reader);

/* Call this when the cursor at the top of the heap has moved or can move: order the heap again. */
void px_reader_resettle_top(struct px_reader *reader);

/* reader_merge.c */

enum px_settled {
	PX_SETTLED_EMPTY, /* no record or reservation is below the snapshot */
	PX_SETTLED_READY, /* the cursor is at a record, or at a reservation that is not committed yet */
	PX_SETTLED_LAPPED
};

/*
 * Move the cursor to its next record or reservation below the snapshot.  The size of the ring bounds the number of
 * steps, even if a hostile writer has stored nonsense in the ring.
 */
enum px_settled px_reader_settle(struct px_reader *reader, uint32_t i);

/* Put the rings with a record or reservation into the heap.  Return false if a ring was lapped. */
bool px_reader_build_heap(struct px_reader *reader);

/* The counter of the ring at this place of the heap has changed: move the ring down to where it belongs. */
void px_reader_sift_down(struct px_reader *reader, uint32_t at);

/* Return true if the cursor of ring a is at an earlier record than that of ring b. */
PX_INLINE bool px_reader_is_earlier(const struct px_reader *reader, uint32_t a, uint32_t b)
{
	return (int64_t)(reader->cursor[a].counter - reader->cursor[b].counter) < 0;
}

/* Move the cursor over this record. */
PX_INLINE void px_reader_advance(struct px_cursor *cursor, const struct px_record *record)
{
	cursor->position += record->nr_slots;
	cursor->is_record = false;
	cursor->last_counter = record->counter;
	cursor->extra += record->nr_slots - 1;
}

/* Free the slots that the cursor has passed. */
PX_INLINE void px_reader_consume(struct px_reader *reader, uint32_t i)
{
	uint64_t position = reader->cursor[i].position;
	struct px_ring ring;

	if (px_unlikely(reader->keeps_slots))
		return;
	if (px_unlikely(reader->nr_aside > 0))
		position = px_aside_tail(reader, i, position);
	ring = px_reader_ring(reader, i);
	px_ring_consume(&ring, position);
}

/*
 * Read the record at the cursor.  Refuse a record that extends beyond head: after it the cursor would be beyond head.
 * The reader would take that for a lap, and would go back through the ring again and again.
 */
PX_INLINE bool px_reader_read_record(const struct px_cursor *cursor, const struct px_ring *ring,
				     struct px_record *record, void *data, size_t capacity)
{
	return px_record_read(ring, cursor->position, cursor->word, record, data, capacity) &&
	       record->nr_slots <= cursor->head - cursor->position;
}

/* reader_laps.c */

/* Return true if writers have overwritten unread events of this ring, and no overrun was reported for this yet. */
PX_INLINE bool px_reader_has_lap(const struct px_cursor *cursor, const struct px_ring *ring,
				 uint64_t head)
{
	uint64_t frontier = head - (ring->mask + 1);

	return (int64_t)(frontier - cursor->position) > 0 &&
	       (int64_t)(frontier - cursor->overrun_until) > 0;
}

/*
 * Drop the records before the cut-off from a ring that was not lapped.  If one of them is older than *first, set *first
 * to its counter.
 */
void px_reader_cut_ring(struct px_reader *reader, uint32_t i, uint64_t *first);

/* Call this when writers have lapped the reader.  Afterwards the heap is built. */
void px_reader_follow_laps(struct px_reader *reader);

/* reader_wait.c */

/* Return true if the reader still has to wait for the reservation at the top of the heap. */
bool px_reader_is_pending(struct px_reader *reader, uint32_t i);

/* reader_made.c */

/* Return a synthesized event, or the held record after it.  Return false if there is none. */
bool px_reader_next_made(struct px_reader *reader, void *data, size_t capacity, struct px_report *report);

/* The record is in held_data: find out which synthesized events come before it. */
void px_reader_hold(struct px_reader *reader, const struct px_record *record,
		    const struct px_eventset *filter);

PX_INLINE void px_reader_note_reported(struct px_reader *reader, uint64_t counter)
{
	if (px_likely((int64_t)(counter - reader->reported_counter) > 0))
		reader->reported_counter = counter;
}

/* reader_loss.c */

/* Note that events were lost.  The first of them has this counter or a later one. */
void px_reader_note_gap(struct px_reader *reader, uint64_t counter);

/* Count a record as lost, because its writer did not finish it.  The record has this counter or a later one. */
void px_reader_abandon(struct px_reader *reader, uint64_t counter);

/* The copy of the record at the cursor failed: if the record is not whole, and never will be, pass its first slot. */
void px_reader_pass_torn(struct px_reader *reader, uint32_t i);

/*
 * If writers of this ring have marked losses: take the marks, and free the slots of dead threads, for which writers may
 * have found no slot.  Call this after the read of the snapshot's counter.  A later event of such a writer has a later
 * counter, so the mark exists before a snapshot shows that event.
 */
void px_reader_look_at_marks(struct px_reader *reader, uint32_t i);

/* The stream is cleared: remove the marks of this ring. */
void px_reader_forget_marks(struct px_reader *reader, uint32_t i);

/* The reader continues from a checkpoint: take the marks of this ring that are later than those that were passed. */
void px_reader_find_marks(struct px_reader *reader, uint32_t i, uint64_t passed);

/* Note a gap for each mark that is not later than the record at the top of the heap. */
void px_reader_pass_marks(struct px_reader *reader);

#endif
