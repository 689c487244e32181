/* SPDX-License-Identifier: MIT */
#include "stream/reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 4096 /* maximum number of steps in one call; the next call continues */

int px_reader_init(struct px_reader *reader, const struct px_view *view, uint32_t target_pid,
		   const struct px_timeline *timeline)
{
	uint32_t nr_rings = view->rings.nr_rings;

	memset(reader, 0, sizeof(*reader));
	reader->held_capacity = view->max_data > PX_SYSTEM_EVENT_BYTES + sizeof(struct px_marks) ?
					view->max_data :
					PX_SYSTEM_EVENT_BYTES + sizeof(struct px_marks);
	reader->cursor = calloc(nr_rings, sizeof(*reader->cursor));
	reader->heap = calloc(nr_rings, sizeof(*reader->heap));
	reader->aside = calloc(PX_READER_ASIDE_MAX, sizeof(*reader->aside));
	reader->held_data = malloc(reader->held_capacity);
	reader->marks_capacity = nr_rings * PX_RING_MARKS;
	reader->mark = calloc(reader->marks_capacity, sizeof(*reader->mark));
	if (!reader->cursor || !reader->heap || !reader->aside || !reader->held_data || !reader->mark) {
		px_reader_destroy(reader);
		return ENOMEM;
	}
	reader->view = view;
	reader->target_pid = target_pid;
	reader->timeline = *timeline;
	reader->taken.is_lapped = true; /* the reader has not taken a record yet */
	reader->reported_counter = timeline->origin.counter;
	reader->cut = timeline->origin.counter;
	for (uint32_t i = 0; i < nr_rings; i++) {
		struct px_ring ring = px_rings_get(&view->rings, i);

		reader->cursor[i].position = px_read_once(&ring.control->tail);
		reader->cursor[i].released = reader->cursor[i].position;
		reader->cursor[i].extra = px_ring_extra(ring.control);
		reader->cursor[i].last_counter = timeline->origin.counter;
	}
	return 0;
}

void px_reader_destroy(struct px_reader *reader)
{
	free(reader->cursor);
	free(reader->heap);
	free(reader->aside);
	free(reader->held_data);
	free(reader->mark);
	memset(reader, 0, sizeof(*reader));
}

void px_reader_read_heads(struct px_reader *reader)
{
	struct px_anchor anchor = px_clock_anchor(reader->timeline.source);

	px_timeline_extend(&reader->timeline, anchor);
	reader->horizon = anchor.counter;
	/*
	 * A writer with an older counter either sees this horizon, or its reservation is below one of the heads
	 * (px_ring_is_late()).
	 */
	px_exchange(&reader->view->segment->horizon, anchor.counter);
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_ring ring = px_reader_ring(reader, i);

		reader->cursor[i].head = px_load_acquire(&ring.control->head);
		px_reader_look_at_marks(reader, i);
	}
	PX_TESTPOINT("reader.snapshot.taken");
}

static void take_snapshot(struct px_reader *reader)
{
	px_reader_read_heads(reader);
	if (px_unlikely(reader->nr_aside > 0)) {
		px_aside_look(reader);
		reader->has_late = true;
	}
	if (!px_reader_build_heap(reader))
		px_reader_follow_laps(reader);
}

static void pop(struct px_reader *reader)
{
	reader->heap[0] = reader->heap[--reader->nr_heap];
	if (reader->nr_heap > 1)
		px_reader_sift_down(reader, 0);
}

void px_reader_resettle_top(struct px_reader *reader)
{
	uint32_t i = reader->heap[0];

	switch (px_reader_settle(reader, i)) {
	case PX_SETTLED_LAPPED:
		px_reader_follow_laps(reader);
		return;
	case PX_SETTLED_EMPTY:
		pop(reader);
		break;
	case PX_SETTLED_READY:
		px_reader_sift_down(reader, 0);
		break;
	}
	px_reader_consume(reader, i);
}

static bool has_marks(const struct px_reader *reader, uint32_t i)
{
	struct px_ring ring = px_reader_ring(reader, i);

	return px_record_flags(&ring, reader->cursor[i].position) & PX_RECORD_MARKS;
}

/*
 * Store the position of the record that the reader takes now, so that px_reader_checkpoint() can go back to it.  If
 * writers lap the ring after this, a checkpoint counts the record as lost.
 */
PX_INLINE void note_taken(struct px_reader *reader, uint32_t i)
{
	const struct px_cursor *cursor = &reader->cursor[i];

	reader->reported = PX_REPORTED_RECORD;
	reader->taken = (struct px_taken){.ring = i,
					  .position = cursor->position,
					  .extra = cursor->extra,
					  .last_counter = cursor->last_counter,
					  .reported_counter = reader->reported_counter};
}

/*
 * Take the record at the top of the heap.  Return false if it is overwritten or not whole, or if other events must be
 * reported first.
 */
static bool take(struct px_reader *reader, const struct px_eventset *filter, void *data,
		 size_t capacity, struct px_report *report)
{
	uint32_t i = reader->heap[0];
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	bool holding = px_unlikely(reader->in_gap || has_marks(reader, i));

	if (!px_reader_read_record(cursor, &ring, &report->record, holding ? reader->held_data : data,
			 holding ? reader->held_capacity : capacity)) {
		px_reader_pass_torn(reader, i);
		px_reader_resettle_top(reader);
		return false;
	}
	PX_TESTPOINT("reader.take.copied");
	note_taken(reader, i);
	px_reader_advance(cursor, &report->record);
	/*
	 * Call px_reader_hold() first: if px_reader_resettle_top() finds a lap, its gap belongs after this record, not
	 * before it.
	 */
	if (holding)
		px_reader_hold(reader, &report->record, filter);
	px_reader_resettle_top(reader);
	if (holding)
		return false;
	px_reader_note_reported(reader, report->record.counter);
	report->length = report->record.length;
	report->copied = report->length < capacity ? report->length : capacity;
	return true;
}

/* Return the oldest record that was set aside and can be read, if it is older than the top of the heap, or NULL. */
static struct px_aside *next_late(struct px_reader *reader)
{
	struct px_aside *late = px_aside_first(reader);

	px_reader_pass_marks(reader);
	reader->has_late = late != NULL || reader->nr_marks > 0;
	if (late && reader->nr_heap > 0 &&
	    (int64_t)(late->counter - reader->cursor[reader->heap[0]].counter) > 0)
		return NULL;
	return late;
}

/*
 * If this late record is before the cut-off, or overwritten, count it as lost.  Otherwise take it.  Do not report a gap
 * here: the reader reports it before the next record that is not late.  Return true if the late record is reported.
 */
static bool take_late(struct px_reader *reader, struct px_aside *late,
		      const struct px_eventset *filter, void *data, size_t capacity,
		      struct px_report *report)
{
	struct px_taken taken = {.ring = late->ring,
				 .is_lapped = true,
				 .reported_counter = reader->reported_counter};
	struct px_ring ring = px_reader_ring(reader, late->ring);
	struct px_record *record = &report->record;
	bool holding = px_record_flags(&ring, late->position) & PX_RECORD_MARKS;

	if ((int64_t)(late->counter - reader->cut) < 0 ||
	    !px_record_read(&ring, late->position, late->word, record,
			    holding ? reader->held_data : data,
			    holding ? reader->held_capacity : capacity)) {
		px_aside_done(reader, late, 0);
		return false;
	}
	px_aside_done(reader, late, record->nr_slots);
	reader->reported = PX_REPORTED_RECORD;
	reader->taken = taken;
	if (holding) {
		px_reader_hold(reader, record, filter);
		return false;
	}
	px_reader_note_reported(reader, record->counter);
	report->length = record->length;
	report->copied = report->length < capacity ? report->length : capacity;
	return true;
}

/*
 * Return true if the next record is before the cut-off.  px_reader_cut_ring() did not drop it, because an uncommitted
 * reservation was before it in the ring at that time.
 */
static bool is_cut(const struct px_reader *reader)
{
	return (int64_t)(reader->cursor[reader->heap[0]].counter - reader->cut) < 0;
}

static void cut_top(struct px_reader *reader)
{
	uint32_t i = reader->heap[0];
	uint64_t first = reader->cursor[i].counter;

	px_reader_cut_ring(reader, i, &first);
	px_reader_note_gap(reader, first);
	if (reader->cursor[i].is_record && is_cut(reader))
		px_reader_pass_torn(reader, i);
	px_reader_resettle_top(reader);
}

enum px_next px_reader_next(struct px_reader *reader, const struct px_eventset *filter, void *data,
			    size_t capacity, struct px_report *report)
{
	struct px_aside *late;
	bool fresh = false;

	for (int steps = 0; steps < STEPS_MAX; steps++) {
		if (px_unlikely(reader->has_waiting) && px_reader_next_made(reader, data, capacity, report))
			return PX_NEXT_EVENT;
		if (px_unlikely(reader->has_late) && (late = next_late(reader))) {
			if (take_late(reader, late, filter, data, capacity, report))
				return PX_NEXT_EVENT;
			continue;
		}
		if (reader->nr_heap == 0) {
			if (fresh)
				return PX_NEXT_NONE;
			take_snapshot(reader);
			fresh = true;
			continue;
		}
		if (px_unlikely(!reader->cursor[reader->heap[0]].is_record)) {
			if (px_reader_is_pending(reader, reader->heap[0]))
				return PX_NEXT_PENDING;
			px_reader_resettle_top(reader);
			continue;
		}
		if (px_unlikely(is_cut(reader))) {
			cut_top(reader);
			continue;
		}
		if (px_likely(take(reader, filter, data, capacity, report)))
			return PX_NEXT_EVENT;
	}
	return PX_NEXT_PENDING; /* a hostile writer can make the reader pass slots for ever */
}

void px_reader_clear(struct px_reader *reader)
{
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_reader_ring(reader, i);

		cursor->last_counter = px_clock_read(reader->timeline.source);
		cursor->extra = px_ring_extra(ring.control);
		cursor->position = px_load_acquire(&ring.control->head);
		cursor->head = cursor->position;
		cursor->nr_unseen = 0;
		cursor->is_record = false;
		cursor->released = cursor->position;
		cursor->tail_is_held = px_growth_is_partial(reader->view, ring.control);
		if (!cursor->tail_is_held)
			px_ring_consume(&ring, cursor->position);
		px_reader_look_at_marks(reader, i);
		px_reader_forget_marks(reader, i);
	}
	reader->nr_marks = 0;
	reader->nr_heap = 0;
	reader->taken.is_lapped = true;
	reader->in_gap = reader->skips_overflow = reader->skips_resume = false;
	px_auto_stop_clear(&reader->stop);
	reader->overflow_waits = reader->resume_waits = false;
	reader->held_waits = false;
	reader->has_waiting = false;
	reader->nr_aside = 0;
	reader->has_late = false;
	reader->loss = (struct px_loss){0};
	px_reader_report_overrun(reader);
}
