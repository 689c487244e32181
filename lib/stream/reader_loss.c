/* SPDX-License-Identifier: MIT */
/* Events that are lost: their counts, and when they are reported. */
#include "stream/reader_private.h"

#include "base/procfs.h"

void px_reader_note_gap(struct px_reader *reader, uint64_t counter)
{
	if (!reader->in_gap || (int64_t)(counter - reader->gap_counter) < 0)
		reader->gap_counter = counter;
	reader->in_gap = true;
}

void px_reader_abandon(struct px_reader *reader, uint64_t counter)
{
	reader->loss.abandoned++;
	reader->is_overrun = true;
	px_reader_note_gap(reader, counter);
}

void px_reader_pass_torn(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t head;

	/*
	 * If a writer has overwritten the first slot during the copy, px_reader_settle() finds that.  The slot may be
	 * overwritten although head has not moved (C3 in cpuring.h).
	 */
	if (!px_ring_unchanged(&ring, cursor->position, cursor->word))
		return;
	head = px_load_acquire(&ring.control->head);
	/*
	 * This may be a lap: one writer has reserved the first slot again and sleeps, and another writer has
	 * overwritten a further slot. px_reader_settle() compares head with the position, and so finds such a lap.
	 */
	if (head - cursor->position > ring.mask + 1 && reader->view->limit == 0) {
		cursor->head = head;
		return;
	}
	px_reader_abandon(reader, cursor->counter);
	cursor->position++;
}

/*
 * Report a gap before the next record that is not older than this counter.  Only a hostile writer stores a counter that
 * is still to come: the times of all later events would follow it.
 */
static void mark_loss(struct px_reader *reader, uint64_t counter)
{
	uint64_t now = px_clock_read(reader->timeline.source);

	if ((int64_t)(counter - now) > 0)
		counter = now;
	if (reader->nr_marks < reader->marks_capacity)
		reader->mark[reader->nr_marks++] = counter;
	else
		px_reader_note_gap(reader, counter);
	reader->has_late = true;
}

/* Take the marks of a ring.  If they stay there, take those that are new. */
static void take_marks(struct px_reader *reader, uint32_t i, const struct px_ring *ring)
{
	uint64_t *seen = reader->cursor[i].seen;

	for (uint32_t k = 0; k < PX_RING_MARKS; k++) {
		uint64_t *mark = &ring->control->mark[k];
		uint64_t counter = reader->keeps_marks ? px_load_acquire(mark) : px_exchange(mark, UINT64_C(0));

		if (counter != 0 && counter != seen[k])
			mark_loss(reader, counter);
		if (reader->keeps_marks)
			seen[k] = counter;
	}
}

void px_reader_forget_marks(struct px_reader *reader, uint32_t i)
{
	struct px_ring ring = px_reader_ring(reader, i);

	for (uint32_t k = 0; k < PX_RING_MARKS; k++) {
		px_exchange(&ring.control->mark[k], UINT64_C(0));
		reader->cursor[i].seen[k] = 0;
	}
}

void px_reader_find_marks(struct px_reader *reader, uint32_t i, uint64_t passed)
{
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t *seen = reader->cursor[i].seen;

	for (uint32_t k = 0; k < PX_RING_MARKS; k++) {
		seen[k] = px_load_acquire(&ring.control->mark[k]);
		if (seen[k] != 0 && (int64_t)(seen[k] - passed) > 0)
			mark_loss(reader, seen[k]);
	}
}

void px_reader_look_at_marks(struct px_reader *reader, uint32_t i)
{
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t nr_marked = px_load_acquire(&ring.control->nr_marked); /* EDGE given acquire */

	if (px_likely(nr_marked == reader->cursor[i].nr_marked))
		return;
	reader->cursor[i].nr_marked = nr_marked;
	take_marks(reader, i, &ring);
	if (!px_growth_is_partial(reader->view, ring.control))
		px_ring_reclaim_all(&ring, px_procfs_has);
}

void px_reader_pass_marks(struct px_reader *reader)
{
	const struct px_cursor *cursor;

	if (reader->nr_heap == 0 || !reader->cursor[reader->heap[0]].is_record)
		return;
	cursor = &reader->cursor[reader->heap[0]];
	for (uint32_t k = 0; k < reader->nr_marks;) {
		if ((int64_t)(reader->mark[k] - cursor->counter) > 0) {
			k++;
			continue;
		}
		px_reader_note_gap(reader, reader->mark[k]);
		reader->mark[k] = reader->mark[--reader->nr_marks];
	}
}

/*
 * So many events were not lost.  They count as overwritten, or as abandoned if a dead thread has left two reservations
 * of one event.  Return how many of them were counted.
 */
static uint64_t subtract_lost(struct px_loss *loss, uint64_t number)
{
	uint64_t overwritten = number < loss->overwritten ? number : loss->overwritten;
	uint64_t abandoned = number - overwritten < loss->abandoned ? number - overwritten : loss->abandoned;

	loss->overwritten -= overwritten;
	loss->abandoned -= abandoned;
	return overwritten + abandoned;
}

/*
 * The reader has read all records of a ring: correct the ring's counts.  Slots that did not become records were counted
 * as lost records: subtract them.  Add to *loss the reservations that became no record, but are not in the ring's
 * extra: their writers have died, or may still make another reservation, or their record was overwritten unseen.
 */
static void correct_counts(struct px_reader *reader, uint32_t i, struct px_loss *loss)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	/* Load extra before head: then it counts only slots below head. */
	uint64_t extra = px_ring_extra(ring.control);
	int64_t late = (int64_t)(extra - cursor->extra);

	if (px_read_once(&ring.control->head) != cursor->position)
		return;
	if (late < (cursor->is_guessed ? -(int64_t)ring.mask : 0)) {
		uint64_t unfinished = (uint64_t)-late <= cursor->extra ? (uint64_t)-late : 0;
		uint64_t unseen = unfinished < cursor->nr_unseen ? unfinished : cursor->nr_unseen;

		loss->overwritten += unseen;
		loss->abandoned += unfinished - unseen;
		return;
	}
	cursor->is_guessed = false;
	if (late > 0)
		late = (int64_t)subtract_lost(&reader->loss, (uint64_t)late);
	else
		reader->loss.overwritten -= (uint64_t)late;
	cursor->extra += (uint64_t)late;
}

void px_reader_loss(struct px_reader *reader, struct px_loss *loss)
{
	struct px_loss more = {0};

	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		correct_counts(reader, i, &more);
	*loss = reader->loss;
	loss->overwritten += more.overwritten;
	loss->abandoned += more.abandoned;
}

bool px_reader_give_up_late(struct px_reader *reader)
{
	px_aside_look(reader);
	reader->has_late = px_aside_first(reader) != NULL;
	if (!reader->has_late)
		px_aside_abandon_all(reader);
	return reader->has_late;
}

bool px_reader_report_overrun(struct px_reader *reader)
{
	uint64_t given_up = 0;
	bool is_overrun;

	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		px_reader_look_at_marks(reader, i);
	if (reader->nr_aside > 0) {
		px_aside_look(reader);
		reader->has_late = true;
	}
	is_overrun = reader->is_overrun;
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_reader_ring(reader, i);
		uint64_t head = px_load_acquire(&ring.control->head);

		if (px_reader_has_lap(cursor, &ring, head)) {
			is_overrun = true;
			cursor->overrun_until = head - (ring.mask + 1);
		}
		given_up += px_read_once(&ring.control->given_up);
	}
	is_overrun |= given_up != reader->reported_given_up;
	reader->reported_given_up = given_up;
	reader->is_overrun = false;
	return is_overrun;
}
