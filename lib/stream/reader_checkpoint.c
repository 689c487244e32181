/* SPDX-License-Identifier: MIT */
/* Where a reader stands, for whoever goes on when its process is dead (checkpoint.h). */
#include "stream/reader.h"

/* What is still to be reported; what is in somebody's hand counts as that. */
struct waiting {
	bool overflow, resume, held, any;
};

static struct waiting waiting_of(const struct px_reader *reader, bool in_hand)
{
	enum px_reported reported = in_hand ? reader->reported : PX_REPORTED_NOTHING;
	struct waiting waiting = {.overflow = reader->overflow_waits,
				  .resume = reader->resume_waits,
				  .held = reader->held_waits};

	waiting.overflow |= reported == PX_REPORTED_OVERFLOW;
	waiting.resume |= reported == PX_REPORTED_RESUME;
	waiting.held |= reported == PX_REPORTED_HELD;
	waiting.any = waiting.overflow || waiting.resume || waiting.held ||
		      px_auto_stop_is_queued(&reader->stop) ||
		      reported == PX_REPORTED_MARKED_STOP || reported == PX_REPORTED_RECORD;
	return waiting;
}

/* The last record is to be taken again, and what is made before it to be made again as far as it waits. */
static void go_back(const struct px_reader *reader, const struct waiting *waiting,
		    struct px_checkpoint *checkpoint)
{
	const struct px_taken *taken = &reader->taken;
	struct px_checkpoint_ring *ring = &checkpoint->ring[taken->ring];

	ring->position = taken->position;
	ring->extra = taken->extra;
	ring->last_counter = taken->last_counter;
	if (!waiting->held)
		return; /* it waits for nothing, or is silent and leaves the gap to the next one */
	checkpoint->in_gap = waiting->overflow || waiting->resume;
	checkpoint->gap_counter = reader->overflow_counter;
	if (checkpoint->in_gap || reader->held.flags & PX_RECORD_MARKS) {
		checkpoint->skips_overflow = !waiting->overflow;
		checkpoint->skips_resume = !waiting->resume;
	}
}

/* Writers have overtaken it: then it is overwritten, like others behind it. */
static void count_taken(const struct px_reader *reader, const struct waiting *waiting,
			struct px_checkpoint *checkpoint)
{
	uint64_t counter = waiting->overflow  ? reader->overflow_counter :
			   reader->held_waits ? reader->held.counter :
						reader->reported_counter;

	if (!checkpoint->in_gap || (int64_t)(counter - checkpoint->gap_counter) < 0)
		checkpoint->gap_counter = counter;
	checkpoint->in_gap = true;
	checkpoint->overwritten++;
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
	struct waiting waiting = waiting_of(reader, in_hand);
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
	checkpoint->skips_overflow = checkpoint->skips_resume = 0;
	px_auto_stop_save(&reader->stop, holds_stop, checkpoint);
	checkpoint->timeline = reader->timeline;
	if (waiting.any && reader->taken.is_lapped)
		count_taken(reader, &waiting, checkpoint);
	else if (waiting.any)
		go_back(reader, &waiting, checkpoint);
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
	return true;
}

void px_reader_release(struct px_reader *reader, const struct px_checkpoint *checkpoint)
{
	for (uint32_t i = 0; reader->keeps_slots && i < reader->view->rings.nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_rings_get(&reader->view->rings, i);

		if ((int64_t)(checkpoint->ring[i].position - cursor->released) <= 0)
			continue;
		cursor->released = checkpoint->ring[i].position;
		px_ring_consume(&ring, cursor->released);
	}
}
