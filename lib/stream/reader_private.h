/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of the reader share: the reservations that the reader has set aside.
 *
 * Such a reservation is claimed by a thread that was stopped, or did not get a CPU, before it committed its record.
 * The cursor of the ring has passed the slots.  An entry holds such a reservation.  It ends when the reader finds one
 * of these in the slots:
 *
 *	a record		report it, although younger events were reported before
 *	void slots		there was no record: the writer has recorded its event in other slots
 *	void slots with a tid	the owner was dead: count the record as abandoned
 *	newer positions		count the record as overwritten
 *
 * In a bounded stream the ring's tail stays at the oldest entry as long as the stream is not AUTO_FULL, and the slots
 * from there to head use at most half of the room.  So no writer uses the slots of the entry again before the reader
 * has seen its record.  Otherwise the tail moves on.  Then the entry is like an entry of a ring that loops: its slots
 * are safe until the owner commits, and after that until another writer reaches them.
 *
 * An entry counts as one record in `position - extra` of its cursor, until the reader knows the exact number.
 */
#ifndef PX_STREAM_READER_PRIVATE_H
#define PX_STREAM_READER_PRIVATE_H

#include "stream/reader.h"

#define PX_READER_GRACE_NS 1000000 /* after this time, ask the kernel about the owner */

PX_INLINE struct px_ring px_reader_ring(const struct px_reader *reader, uint32_t i)
{
	return px_rings_get(&reader->view->rings, i);
}

/* Note that events were lost, the first of them at this counter or later. */
void px_reader_note_gap(struct px_reader *reader, uint64_t counter);

/* Note that a record with this counter, or a later counter, is lost because its writer did not finish it. */
void px_reader_abandon(struct px_reader *reader, uint64_t counter);

/* Set aside the reservation at the cursor of this ring, and move the cursor past the reservation. */
void px_aside_add(struct px_reader *reader, uint32_t i);

/* Check all entries.  From time to time, ask the kernel about their owners, and free the slots of dead threads. */
void px_aside_look(struct px_reader *reader);

/* Return the entry with the oldest record that can be read, or NULL. */
struct px_aside *px_aside_first(const struct px_reader *reader);

/*
 * Call this after the record of the entry was read.  nr_slots is the number of slots of the record.  0 means that the
 * record cannot be read, and is lost.
 */
void px_aside_done(struct px_reader *reader, struct px_aside *aside, uint32_t nr_slots);

/* Return the tail of this ring that keeps the slots of entries: this position, or a lower one. */
uint64_t px_aside_tail(struct px_reader *reader, uint32_t i, uint64_t position);

/* Count the records of all entries as abandoned. */
void px_aside_abandon_all(struct px_reader *reader);

#endif
