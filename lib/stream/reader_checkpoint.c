/* SPDX-License-Identifier: MIT */
/* Save and load the position of a reader, for the process that completes the log (checkpoint.h). */
#include "stream/reader_private.h"

/*
 * The events that the reader must still report.  If the log has not taken the last reported event yet, that event is
 * among them.
 */
struct to_report {
	bool overflow, resume, held, any;
};

static struct to_report find_to_report(const struct px_reader *reader, bool in_hand)
{
	enum px_reported reported = in_hand ? reader->reported : PX_REPORTED_NOTHING;
	struct to_report todo = {.overflow = reader->overflow_waits,
				 .resume = reader->resume_waits,
				 .held = reader->held_waits};

	todo.overflow |= reported == PX_REPORTED_OVERFLOW;
	todo.resume |= reported == PX_REPORTED_RESUME;
	todo.held |= reported == PX_REPORTED_HELD;
	todo.any = todo.overflow || todo.resume || todo.held ||
		   px_auto_stop_is_queued(&reader->stop) || reported == PX_REPORTED_MARKED_STOP ||
		   reported == PX_REPORTED_RECORD;
	return todo;
}

/*
 * Move the checkpoint back to the last record.  A reader that continues there takes the record again.  It also
 * synthesizes again the events before the record that are not in the log yet.
 */
static void go_back(const struct px_reader *reader, const struct to_report *todo,
		    struct px_checkpoint *checkpoint)
{
	const struct px_taken *taken = &reader->taken;
	struct px_checkpoint_ring *ring = &checkpoint->ring[taken->ring];

	ring->position = taken->position;
	ring->extra = taken->extra;
	ring->last_counter = taken->last_counter;
	if (!todo->held)
		return; /* no event comes before the record, or it is silent: the reader reports the gap later */
	checkpoint->in_gap = todo->overflow || todo->resume;
	checkpoint->gap_counter = reader->overflow_counter;
	if (checkpoint->in_gap || reader->held.flags & PX_RECORD_MARKS) {
		checkpoint->skips_overflow = !todo->overflow;
		checkpoint->skips_resume = !todo->resume;
	}
}

static void note_gap(struct px_checkpoint *checkpoint, uint64_t counter)
{
	if (!checkpoint->in_gap || (int64_t)(counter - checkpoint->gap_counter) < 0)
		checkpoint->gap_counter = counter;
	checkpoint->in_gap = true;
}

/*
 * Call this when no reader can take the last record again, because writers have lapped it, or because it was set aside.
 * Count the record as overwritten.
 */
static void count_taken(const struct px_reader *reader, const struct to_report *todo,
			struct px_checkpoint *checkpoint)
{
	uint64_t counter = todo->overflow     ? reader->overflow_counter :
			   reader->held_waits ? reader->held.counter :
						reader->reported_counter;

	note_gap(checkpoint, counter);
	checkpoint->overwritten++;
}

/*
 * The marks stay in the rings (px_reader_find_marks()).  Those up to the last record are passed: they have become gaps
 * before that record, or become one before the next record.
 */
static void pass_marks(const struct px_reader *reader, const struct to_report *todo, struct px_checkpoint *checkpoint)
{
	checkpoint->marks_passed = checkpoint->reported_counter;
	if (todo->held && (int64_t)(reader->held.counter - checkpoint->marks_passed) > 0)
		checkpoint->marks_passed = reader->held.counter;
	for (uint32_t k = 0; k < reader->nr_marks; k++)
		if ((int64_t)(reader->mark[k] - checkpoint->marks_passed) <= 0)
			note_gap(checkpoint, reader->mark[k]);
}

/* A checkpoint has no room for reservations that were set aside.  If the controller dies, their records are lost. */
static void count_aside(const struct px_reader *reader, struct px_checkpoint *checkpoint)
{
	for (uint32_t k = 0; k < reader->nr_aside; k++) {
		note_gap(checkpoint, reader->aside[k].counter);
		checkpoint->abandoned++;
	}
}

static void copy_cursors(const struct px_reader *reader, struct px_checkpoint *checkpoint)
{
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		const struct px_cursor *cursor = &reader->cursor[i];

		checkpoint->ring[i] =
			(struct px_checkpoint_ring){.position = cursor->position,
						    .extra = cursor->extra,
						    .last_counter = cursor->last_counter,
						    .passed_until = cursor->passed_until,
						    .passed_tid = cursor->passed_tid};
	}
}

void px_reader_checkpoint(const struct px_reader *reader, bool in_hand,
			  struct px_checkpoint *checkpoint)
{
	struct to_report todo = find_to_report(reader, in_hand);
	bool holds_record = in_hand && (reader->reported == PX_REPORTED_RECORD ||
					reader->reported == PX_REPORTED_HELD);
	bool holds_stop = in_hand && (reader->reported == PX_REPORTED_STOP ||
				      reader->reported == PX_REPORTED_MARKED_STOP);

	copy_cursors(reader, checkpoint);
	checkpoint->in_gap = reader->in_gap;
	checkpoint->gap_counter = reader->gap_counter;
	checkpoint->cut = reader->cut;
	checkpoint->reported_counter = holds_record ? reader->taken.reported_counter :
						      reader->reported_counter;
	checkpoint->overwritten = reader->loss.overwritten;
	checkpoint->abandoned = reader->loss.abandoned;
	checkpoint->skips_overflow = reader->skips_overflow &&
				     !(in_hand && reader->reported == PX_REPORTED_LAST_OVERFLOW);
	checkpoint->skips_resume = reader->skips_resume;
	px_auto_stop_save(&reader->stop, holds_stop, checkpoint);
	checkpoint->timeline = reader->timeline;
	if (todo.any && reader->taken.is_lapped)
		count_taken(reader, &todo, checkpoint);
	else if (todo.any)
		go_back(reader, &todo, checkpoint);
	count_aside(reader, checkpoint);
	pass_marks(reader, &todo, checkpoint);
}

static bool resume_cursor(struct px_reader *reader, uint32_t i,
			  const struct px_checkpoint_ring *from)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_rings_get(&reader->view->rings, i);

	if ((int64_t)(px_load_acquire(&ring.control->head) - from->position) < 0)
		return false;
	cursor->position = cursor->head = cursor->released = from->position;
	cursor->extra = from->extra;
	cursor->last_counter = from->last_counter;
	cursor->passed_until = from->passed_until;
	cursor->passed_tid = from->passed_tid;
	return true;
}

bool px_reader_resume(struct px_reader *reader, const struct px_checkpoint *checkpoint)
{
	if (checkpoint->timeline.nr_lines == 0 ||
	    checkpoint->timeline.nr_lines > PX_TIMELINE_LINES ||
	    checkpoint->timeline.source != (enum px_clock_source)reader->view->rings.source)
		return false;
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		if (!resume_cursor(reader, i, &checkpoint->ring[i]))
			return false;
	reader->timeline = checkpoint->timeline;
	reader->in_gap = checkpoint->in_gap != 0;
	reader->gap_counter = checkpoint->gap_counter;
	reader->cut = checkpoint->cut;
	reader->reported_counter = checkpoint->reported_counter;
	reader->loss.overwritten = checkpoint->overwritten;
	reader->loss.abandoned = checkpoint->abandoned;
	reader->skips_overflow = checkpoint->skips_overflow != 0;
	reader->skips_resume = checkpoint->skips_resume != 0;
	px_auto_stop_load(&reader->stop, checkpoint);
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		px_reader_find_marks(reader, i, checkpoint->marks_passed);
	return true;
}

void px_reader_release(struct px_reader *reader, const struct px_checkpoint *checkpoint)
{
	for (uint32_t i = 0; reader->keeps_slots && i < reader->view->rings.nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_rings_get(&reader->view->rings, i);
		bool has_more = (int64_t)(checkpoint->ring[i].position - cursor->released) > 0;
		bool is_partial = px_growth_is_partial(reader->view, ring.control);
		uint64_t tail;

		if (has_more)
			cursor->released = checkpoint->ring[i].position;
		cursor->tail_is_held |= is_partial && has_more;
		if (is_partial || (!has_more && !cursor->tail_is_held))
			continue;
		tail = px_aside_tail(reader, i, cursor->released);
		cursor->tail_is_held = tail != cursor->released;
		px_ring_consume(&ring, tail);
	}
}
