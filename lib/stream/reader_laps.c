/* SPDX-License-Identifier: MIT */
/* What the reader does when writers have overwritten unread events. */
#include "stream/reader_private.h"

#define LAP_ATTEMPTS 8

/* Return the counter of the first unread event that writers have overwritten in this ring. */
static uint64_t first_lost(const struct px_cursor *cursor, const struct px_ring *ring)
{
	uint64_t saved;

	if (cursor->is_record)
		return cursor->counter;
	/* The writer that reserved the slot may sleep before it saves the counter: save it here. */
	px_ring_save_first_lost(ring, cursor->position);
	saved = px_load_acquire(&ring->control->first_lost); /* EDGE lost acquire */
	if ((int64_t)(saved - cursor->last_counter) > 0)
		return saved;
	/*
	 * The event was written and overwritten before the reader published its tail, so no writer saved its counter.
	 * It is not older than the last record, so use the counter of that record.
	 */
	return cursor->last_counter;
}

/*
 * Move the cursor to `oldest`, the position of the oldest surviving record; `extra` is the ring's count of extra slots
 * before that position.  Return the number of records that are lost between the two positions.  This number also
 * corrects the errors in the counts of earlier jumps.
 */
static uint64_t pass_lost(struct px_cursor *cursor, const struct px_ring *ring, uint64_t oldest,
			  uint64_t extra)
{
	int64_t slots = (int64_t)(oldest - cursor->position);
	int64_t passed = (int64_t)(extra - cursor->extra);

	if (passed > slots)
		passed = slots; /* later jumps count the other records */
	if (passed < -(int64_t)ring->mask)
		passed = 0; /* nonsense, from a hostile writer */
	cursor->position = oldest;
	cursor->extra += (uint64_t)passed;
	return slots > passed ? (uint64_t)(slots - passed) : 0;
}

/*
 * Return the margin for px_ring_oldest().  A writer may store its claim before it stores head (C3 in cpuring.h).  So
 * the slot at the cursor may be overwritten although the cursor is at most nr_slots behind head.  Choose a margin that
 * makes the search begin after this slot: otherwise it would find the same slot again.
 */
static uint32_t choose_margin(const struct px_cursor *cursor, const struct px_ring *ring,
			      uint32_t margin)
{
	uint64_t left = cursor->head - cursor->position;
	uint32_t least;

	if (left == 0 || left > ring->mask + 1)
		return margin;
	least = ring->mask + 2 - (uint32_t)left;
	return margin > least ? margin : least;
}

/*
 * Set the cursor of a lapped ring to its oldest surviving record.  Return the counter of this record, or
 * the horizon if no record survived.
 */
static uint64_t jump(struct px_reader *reader, uint32_t i, uint32_t margin)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t head = cursor->head;
	uint64_t oldest = px_ring_oldest(&ring, head, choose_margin(cursor, &ring, margin));
	uint64_t extra = px_ring_extra(ring.control);
	uint64_t counter = reader->horizon;
	struct px_record record;
	uint64_t word;

	cursor->is_guessed = true;
	cursor->nr_jumps++;
	if (px_ring_look(&ring, oldest, head, &word) == PX_LOOK_RECORD &&
	    px_record_read(&ring, oldest, word, &record, NULL, 0)) {
		cursor->is_guessed = false;
		cursor->nr_unseen = 0;
		extra -= (uint32_t)((uint32_t)extra -
				    record.extra); /* from the low 32 bits of extra to all bits */
		if ((int64_t)(record.counter - counter) < 0)
			counter = record.counter;
	}
	reader->loss.overwritten += pass_lost(cursor, &ring, oldest, extra);
	return counter;
}

void px_reader_cut_ring(struct px_reader *reader, uint32_t i, uint64_t *first)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	struct px_record record;

	while (px_reader_settle(reader, i) == PX_SETTLED_READY && cursor->is_record &&
	       (int64_t)(cursor->counter - reader->cut) < 0 &&
	       px_reader_read_record(cursor, &ring, &record, NULL, 0)) {
		if ((int64_t)(record.counter - *first) < 0)
			*first = record.counter;
		px_reader_advance(cursor, &record);
		reader->loss.overwritten++;
	}
}

/*
 * Return true if the slot at the cursor is lapped, although head was less than a lap away when the reader loaded it.
 * There are two possible causes.  First, an unfinished sequence may have left its claim in the slot (C3 in cpuring.h).
 * If a later slot was held, or if the owner of the claim is dead, the slot is void instead.  Second, a writer may have
 * taken the slot since the reader loaded head.  That writer moved head before it took the slot, so load head again.
 */
static bool is_being_lapped(struct px_cursor *cursor, const struct px_ring *ring)
{
	uint64_t word;

	if (px_ring_look(ring, cursor->position, cursor->head, &word) != PX_LOOK_LAPPED)
		return false;
	cursor->head = px_load_acquire(&ring->control->head);
	return true;
}

/*
 * In each lapped ring, jump to the oldest surviving record.  If there was a lapped ring, drop the records before the
 * cut-off from all rings, and return true.  Otherwise return false.
 */
static bool pass_lap(struct px_reader *reader, uint32_t margin)
{
	uint32_t nr_rings = reader->view->rings.nr_rings;
	bool lapped = false;
	uint64_t first;

	px_reader_read_heads(reader);
	first = reader->horizon;
	for (uint32_t i = 0; i < nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_reader_ring(reader, i);
		uint64_t lost, oldest;

		if (cursor->head - cursor->position <= ring.mask + 1) {
			if (!is_being_lapped(cursor, &ring))
				continue;
			reader->is_overrun = true;
		}
		lapped = true;
		reader->is_overrun |= px_reader_has_lap(cursor, &ring, cursor->head);
		cursor->overrun_until = cursor->head - (ring.mask + 1);
		lost = first_lost(cursor, &ring);
		if ((int64_t)(lost - first) < 0)
			first = lost;
		oldest = jump(reader, i, margin);
		cursor->last_counter = lost; /* a lower bound for the next record */
		if ((int64_t)(oldest - reader->cut) > 0)
			reader->cut = oldest; /* the cut-off only moves forward */
	}
	if (!lapped)
		return false;
	reader->taken.is_lapped = true;
	PX_TESTPOINT("reader.lap.jumped");
	for (uint32_t i = 0; i < nr_rings; i++)
		px_reader_cut_ring(reader, i, &first);
	px_reader_note_gap(reader, first);
	return true;
}

/*
 * Call this when writers have lapped the reader.  While they continue, they may overwrite the oldest surviving record
 * before the reader reads it.  So each further attempt keeps a greater distance from them.
 */
void px_reader_follow_laps(struct px_reader *reader)
{
	uint32_t nr_slots = reader->view->rings.nr_slots;

	for (uint32_t attempt = 0; attempt < LAP_ATTEMPTS; attempt++) {
		if (!pass_lap(reader, nr_slots / LAP_ATTEMPTS * attempt))
			break;
		if (px_reader_build_heap(reader))
			return;
	}
	/*
	 * A hostile writer can make all attempts fail, because it stores words with positions beyond head.  Pass such
	 * slots, so that the reader makes progress.
	 */
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		if (px_reader_settle(reader, i) == PX_SETTLED_LAPPED)
			reader->cursor[i].position++;
	if (!px_reader_build_heap(reader))
		reader->nr_heap = 0;
}
