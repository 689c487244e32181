/* SPDX-License-Identifier: MIT */
#include "stream/reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/procfs.h"
#include "trace/frames.h"

#define GIVE_UP_NS 50000000 /* a living owner may be waiting for its CPU */
#define LAP_ATTEMPTS 8
#define STEPS_MAX 4096 /* maximum number of steps in one call; the next call continues */

enum settled {
	SETTLED_EMPTY, /* no record or reservation below the snapshot */
	SETTLED_READY, /* a record, or a reservation that is not committed yet */
	SETTLED_LAPPED
};

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
	if (!reader->cursor || !reader->heap || !reader->aside || !reader->held_data) {
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
		reader->cursor[i].extra = px_read_once(&ring.control->extra);
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
	memset(reader, 0, sizeof(*reader));
}

/* The heap. */

static bool is_earlier(const struct px_reader *reader, uint32_t a, uint32_t b)
{
	return (int64_t)(reader->cursor[a].counter - reader->cursor[b].counter) < 0;
}

static void sift_down(struct px_reader *reader, uint32_t at)
{
	uint32_t *heap = reader->heap;
	uint32_t moving = heap[at];
	uint32_t child;

	while ((child = 2 * at + 1) < reader->nr_heap) {
		if (child + 1 < reader->nr_heap && is_earlier(reader, heap[child + 1], heap[child]))
			child++;
		if (!is_earlier(reader, heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static void pop(struct px_reader *reader)
{
	reader->heap[0] = reader->heap[--reader->nr_heap];
	if (reader->nr_heap > 1)
		sift_down(reader, 0);
}

/* Cursors. */

/*
 * The cursor is at a slot that will hold no record.  If the slot was freed because its owner was dead, an event is
 * lost.  Neighbouring slots of one thread count as one record.
 */
static void pass_nothing(struct px_reader *reader, struct px_cursor *cursor)
{
	uint32_t tid = px_word_tid(cursor->word);

	if (px_unlikely(px_ring_is_left(cursor->word, cursor->position))) {
		if (cursor->position != cursor->passed_until || tid != cursor->passed_tid) {
			px_reader_abandon(reader, cursor->last_counter);
			cursor->extra--; /* not an extra slot: a record begins here */
		}
		cursor->passed_until = cursor->position + 1;
		cursor->passed_tid = tid;
	}
	cursor->position++;
	cursor->extra++;
}

/*
 * Move the cursor to its next record or reservation below the snapshot.  The number of steps is at most the size of the
 * ring, even if a hostile writer has stored wrong values in it.
 */
static enum settled settle(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);

	/* Leave is_record and counter as they are: first_lost() needs them. */
	if (cursor->head - cursor->position > ring.mask + 1)
		return SETTLED_LAPPED;
	cursor->is_record = false;
	while (px_unlikely(cursor->position == cursor->head ||
			   !px_ring_has_record(&ring, cursor->position, &cursor->word))) {
		switch (px_ring_look(&ring, cursor->position, cursor->head, &cursor->word)) {
		case PX_LOOK_EMPTY:
			return SETTLED_EMPTY;
		case PX_LOOK_NOTHING:
			pass_nothing(reader, cursor);
			continue;
		case PX_LOOK_LAPPED:
			return SETTLED_LAPPED;
		case PX_LOOK_CLAIMED:
		case PX_LOOK_UNCLAIMED:
			cursor->counter = cursor->last_counter;
			return SETTLED_READY;
		case PX_LOOK_RECORD:
			continue;
		}
	}
	cursor->counter = px_record_counter(&ring, cursor->position);
	if (!px_ring_unchanged(&ring, cursor->position, cursor->word))
		return SETTLED_LAPPED;
	if ((int64_t)(cursor->counter - reader->horizon) >= 0) {
		cursor->head = cursor->position; /* for the next snapshot */
		return SETTLED_EMPTY;
	}
	cursor->is_record = true;
	return SETTLED_READY;
}

/* Move the cursor over this record. */
static void advance(struct px_cursor *cursor, const struct px_record *record)
{
	cursor->position += record->nr_slots;
	cursor->is_record = false;
	cursor->last_counter = record->counter;
	cursor->extra += record->nr_slots - 1;
}

/* Free the slots that the cursor has passed. */
PX_INLINE void consume(struct px_reader *reader, uint32_t i)
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

/* Put the rings with a record or reservation into the heap.  Return false if a ring was lapped. */
static bool build_heap(struct px_reader *reader)
{
	reader->nr_heap = 0;
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		enum settled settled = settle(reader, i);

		if (settled == SETTLED_LAPPED)
			return false;
		consume(reader, i);
		if (settled == SETTLED_READY)
			reader->heap[reader->nr_heap++] = i;
	}
	for (uint32_t at = reader->nr_heap / 2; at-- > 0;)
		sift_down(reader, at);
	return true;
}

/* Laps. */

/* Return true if writers have overwritten unread events of this ring, and no overrun was reported for this yet. */
static bool has_unreported_lap(const struct px_cursor *cursor, const struct px_ring *ring,
			       uint64_t head)
{
	uint64_t frontier = head - (ring->mask + 1);

	return (int64_t)(frontier - cursor->position) > 0 &&
	       (int64_t)(frontier - cursor->overrun_until) > 0;
}

/* Return the counter of the first unread event that writers have overwritten in this ring. */
static uint64_t first_lost(const struct px_cursor *cursor, const struct px_ring *ring)
{
	uint64_t saved;

	if (cursor->is_record)
		return cursor->counter;
	/* The writer that reserved the slot may be preempted before it saves the counter, so save the counter here. */
	px_ring_save_first_lost(ring, cursor->position);
	saved = px_load_acquire(&ring->control->first_lost); /* EDGE lost acquire */
	if ((int64_t)(saved - cursor->last_counter) > 0)
		return saved;
	/*
	 * The event was written and overwritten before the reader published its tail, so no writer saved the counter of
	 * the event.  The event is not older than the last record, so use the counter of that record.
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
		passed = slots; /* the next jump counts the rest */
	if (passed < -(int64_t)ring->mask)
		passed = 0; /* a hostile writer has stored a wrong number */
	cursor->position = oldest;
	cursor->extra += (uint64_t)passed;
	return (uint64_t)(slots - passed);
}

/*
 * Return the margin for px_ring_oldest().  At the beginning of a lap (C3 in cpuring.h), the cursor is less than a lap
 * from head, but its slot is already overwritten.  So choose a margin that makes the search begin after this slot:
 * otherwise it would find the same slot again.
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
	uint64_t extra = px_read_once(&ring.control->extra);
	uint64_t counter = reader->horizon;
	struct px_record record;
	uint64_t word;

	cursor->is_guessed = true;
	if (px_ring_look(&ring, oldest, head, &word) == PX_LOOK_RECORD &&
	    px_record_read(&ring, oldest, word, &record, NULL, 0)) {
		cursor->is_guessed = false;
		extra -= (uint32_t)((uint32_t)extra -
				    record.extra); /* extends the low 32 bits of extra to 64 bits */
		if ((int64_t)(record.counter - counter) < 0)
			counter = record.counter;
	}
	reader->loss.overwritten += pass_lost(cursor, &ring, oldest, extra);
	return counter;
}

/*
 * Read the record at the cursor.  Refuse a record that extends beyond head: it would move the cursor beyond head.  The
 * reader would take that for a lap, and would go back through the ring again and again.
 */
static bool read_record(const struct px_cursor *cursor, const struct px_ring *ring,
			struct px_record *record, void *data, size_t capacity)
{
	return px_record_read(ring, cursor->position, cursor->word, record, data, capacity) &&
	       record->nr_slots <= cursor->head - cursor->position;
}

/* Drop the records before the cut-off from a ring that was not lapped. */
static void cut_ring(struct px_reader *reader, uint32_t i, uint64_t *first)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	struct px_record record;

	while (settle(reader, i) == SETTLED_READY && cursor->is_record &&
	       (int64_t)(cursor->counter - reader->cut) < 0 &&
	       read_record(cursor, &ring, &record, NULL, 0)) {
		if ((int64_t)(record.counter - *first) < 0)
			*first = record.counter;
		advance(cursor, &record);
		reader->loss.overwritten++;
	}
}

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

/*
 * Read a counter, and then the heads of all rings: the merge depends on this order.  px_clock_anchor() reads the
 * counter with fences.  Its last read follows the reads that yield T, so the loads of the heads come after T.
 */
static void read_heads(struct px_reader *reader)
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
	}
	PX_TESTPOINT("reader.snapshot.taken");
}

/*
 * Return true if the slot at the cursor is lapped, although head was less than a lap away when the reader loaded it.
 * There are two causes.  First, an unfinished sequence may have left its claim in the slot (C3 in cpuring.h).  (The
 * slot is void if a later slot was held, or if the owner of the claim is dead.)  Second, a writer may have taken the
 * slot since the reader loaded head.  That writer moved head before it took the slot, so load head again.
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

	read_heads(reader);
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
		reader->is_overrun |= has_unreported_lap(cursor, &ring, cursor->head);
		cursor->overrun_until = cursor->head - (ring.mask + 1);
		lost = first_lost(cursor, &ring);
		if ((int64_t)(lost - first) < 0)
			first = lost;
		oldest = jump(reader, i, margin);
		cursor->last_counter = lost; /* a lower bound of the next record's counter */
		if ((int64_t)(oldest - reader->cut) > 0)
			reader->cut = oldest; /* the cut-off only moves forward */
	}
	if (!lapped)
		return false;
	reader->taken.is_lapped = true;
	PX_TESTPOINT("reader.lap.jumped");
	for (uint32_t i = 0; i < nr_rings; i++)
		cut_ring(reader, i, &first);
	px_reader_note_gap(reader, first);
	return true;
}

/*
 * Call this when writers have lapped the reader.  While they continue, they may overwrite the oldest surviving record
 * before the reader reads it.  So each further attempt keeps a greater distance from them.
 */
static void follow_laps(struct px_reader *reader)
{
	uint32_t nr_slots = reader->view->rings.nr_slots;

	for (uint32_t attempt = 0; attempt < LAP_ATTEMPTS; attempt++) {
		if (!pass_lap(reader, nr_slots / LAP_ATTEMPTS * attempt))
			break;
		if (build_heap(reader))
			return;
	}
	/*
	 * A hostile writer can make all attempts fail: it stores words with positions beyond head.  Pass such slots, so
	 * that the reader makes progress.
	 */
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		if (settle(reader, i) == SETTLED_LAPPED)
			reader->cursor[i].position++;
	if (!build_heap(reader))
		reader->nr_heap = 0;
}

/* If writers have given up events because they found no slot, free the slots of dead threads. */
static void free_slots_of_the_dead(struct px_reader *reader)
{
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_ring ring = px_reader_ring(reader, i);
		uint64_t given_up = px_read_once(&ring.control->given_up);

		if (given_up == reader->cursor[i].given_up)
			continue;
		reader->cursor[i].given_up = given_up;
		px_ring_reclaim_all(&ring, px_procfs_has);
	}
}

static void take_snapshot(struct px_reader *reader)
{
	free_slots_of_the_dead(reader);
	read_heads(reader);
	if (px_unlikely(reader->nr_aside > 0)) {
		px_aside_look(reader);
		reader->has_late = true;
	}
	if (!build_heap(reader))
		follow_laps(reader);
}

/* The record at the cursor is not whole, and never will be: pass its first slot. */
static void pass_torn(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];

	px_reader_abandon(reader, cursor->counter);
	cursor->position++;
}

/*
 * Stop waiting for the reservation at the cursor.  In the ring of a CPU, the sequence has already claimed all slots
 * that will hold a record.
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

/* Return true if the reader still has to wait for the reservation at the top of the heap. */
static bool is_pending(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	enum px_look look = px_ring_look(&ring, cursor->position, cursor->head, &cursor->word);
	enum px_procfs procfs = PX_PROCFS_RUNNING;
	uint64_t now, waited;

	if (look == PX_LOOK_CLAIMED || look == PX_LOOK_UNCLAIMED) {
		px_calls_tidy(); /* else this thread could wait for its own claim */
		look = px_ring_look(&ring, cursor->position, cursor->head, &cursor->word);
	}
	if (look != PX_LOOK_CLAIMED && look != PX_LOOK_UNCLAIMED)
		return false;
	now = px_clock_monotonic_ns();
	/*
	 * The reader waits at the same time for all slots that were reserved when the wait began.  Begin a new wait
	 * only at a later slot.
	 */
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

/* Call this when the cursor at the top of the heap has moved or can move: order the heap again. */
static void resettle_top(struct px_reader *reader)
{
	uint32_t i = reader->heap[0];

	switch (settle(reader, i)) {
	case SETTLED_LAPPED:
		follow_laps(reader);
		return;
	case SETTLED_EMPTY:
		pop(reader);
		break;
	case SETTLED_READY:
		sift_down(reader, 0);
		break;
	}
	consume(reader, i);
}

/* Fill in a synthesized event. */

static void make(struct px_reader *reader, uint32_t id, uint64_t counter, struct px_report *report)
{
	memset(report, 0, sizeof(*report));
	report->record.id = id;
	report->record.counter = counter;
	report->record.pid = reader->target_pid; /* INFO-3, INFO-9: no thread, no address */
}

static void copy_out(const void *from, size_t length, void *to, size_t capacity,
		     struct px_report *report)
{
	report->length = length;
	report->copied = length < capacity ? length : capacity;
	if (report->copied > 0)
		memcpy(to, from, report->copied);
}

static void make_stop(struct px_reader *reader, void *data, size_t capacity,
		      struct px_report *report)
{
	static const int automatic = 1;

	/* The last recorded event caused the stop (UFULL-2). */
	make(reader, PX_EVENT_STOP, reader->reported_counter, report);
	copy_out(&automatic, sizeof(automatic), data, capacity, report);
}

bool px_reader_make_stop(struct px_reader *reader, uint32_t run, void *data, size_t capacity,
			 struct px_report *report)
{
	if (!px_auto_stop_report(&reader->stop, run))
		return false;
	reader->reported = PX_REPORTED_STOP;
	make_stop(reader, data, capacity, report);
	return true;
}

PX_INLINE void note_reported(struct px_reader *reader, uint64_t counter)
{
	if (px_likely((int64_t)(counter - reader->reported_counter) > 0))
		reader->reported_counter = counter;
}

/* Return a synthesized event, or the held record after it.  Return false if there is none. */
static bool next_waiting(struct px_reader *reader, void *data, size_t capacity,
			 struct px_report *report)
{
	if (px_auto_stop_is_queued(&reader->stop)) {
		px_auto_stop_report_queued(&reader->stop);
		reader->reported = PX_REPORTED_MARKED_STOP;
		make_stop(reader, data, capacity, report);
	} else if (reader->overflow_waits) {
		reader->overflow_waits = false;
		reader->reported = PX_REPORTED_OVERFLOW;
		make(reader, PX_EVENT_OVERFLOW, reader->overflow_counter, report);
	} else if (reader->resume_waits) {
		reader->resume_waits = false;
		reader->reported = PX_REPORTED_RESUME;
		make(reader, PX_EVENT_RESUME, reader->resume_counter, report);
	} else if (reader->held_waits) {
		reader->held_waits = false;
		reader->reported = PX_REPORTED_HELD;
		note_reported(reader, reader->held.counter);
		report->record = reader->held;
		copy_out(reader->held_data, reader->held.length, data, capacity, report);
	} else {
		reader->has_waiting = false;
		return false;
	}
	return true;
}

/*
 * Read the marks of the held record: there may be a STOP or a gap to report before it.  The marks come from shared
 * memory, so a hostile process may have changed them.
 */
static void read_marks(struct px_reader *reader)
{
	struct px_record *held = &reader->held;
	struct px_marks marks;

	if (held->length < sizeof(marks))
		return;
	held->length -= sizeof(marks);
	memcpy(&marks, reader->held_data + held->length, sizeof(marks));
	px_auto_stop_queue(&reader->stop, marks.stopped);
	/*
	 * Events were dropped before this record.  If the counter of the drop is later than the counter of the record,
	 * it is wrong, because OVERFLOW must not get a time after the record.
	 */
	if ((int64_t)(marks.first_dropped - held->counter) > 0)
		marks.first_dropped = held->counter;
	if (marks.gap && marks.first_dropped)
		px_reader_note_gap(reader, marks.first_dropped);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0 ? a : b;
}

/* The record is in held_data: find out which synthesized events come before it. */
static void hold(struct px_reader *reader, const struct px_record *record,
		 const struct px_eventset *filter)
{
	reader->has_waiting = true;
	reader->held = *record;
	if (reader->held.length > reader->held_capacity)
		reader->held.length = (uint32_t)reader->held_capacity; /* only a hostile writer causes this */
	if (record->flags & PX_RECORD_MARKS)
		read_marks(reader);
	if (record->flags & PX_RECORD_SILENT)
		return; /* a gap is reported before the next record */
	reader->held_waits = true;
	if (reader->in_gap) {
		reader->in_gap = false;
		/* The reader may have found the gap late, so keep the times in order. */
		reader->overflow_counter = later_of(reader->gap_counter, reader->reported_counter);
		reader->resume_counter = later_of(record->counter, reader->overflow_counter);
		reader->overflow_waits = !reader->skips_overflow &&
					 !px_eventset_has(filter, PX_EVENT_OVERFLOW);
		reader->resume_waits = !reader->skips_resume &&
				       !px_eventset_has(filter, PX_EVENT_RESUME);
	}
	reader->skips_overflow = reader->skips_resume = false;
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

	if (!read_record(cursor, &ring, &report->record, holding ? reader->held_data : data,
			 holding ? reader->held_capacity : capacity)) {
		/*
		 * The copy failed, although no writer has overwritten the first slot during the copy.  So the record is
		 * not whole, and never will be.
		 */
		if (px_ring_unchanged(&ring, cursor->position, cursor->word))
			pass_torn(reader, i);
		resettle_top(reader);
		return false;
	}
	PX_TESTPOINT("reader.take.copied");
	note_taken(reader, i);
	advance(cursor, &report->record);
	/* Call hold() first: if resettle_top() finds a lap, its gap belongs after this record, not before it. */
	if (holding)
		hold(reader, &report->record, filter);
	resettle_top(reader);
	if (holding)
		return false;
	note_reported(reader, report->record.counter);
	report->length = report->record.length;
	report->copied = report->length < capacity ? report->length : capacity;
	return true;
}

/* Return the oldest record that was set aside and can be read, if it is older than the top of the heap, or NULL. */
static struct px_aside *next_late(struct px_reader *reader)
{
	struct px_aside *late = px_aside_first(reader);

	reader->has_late = late != NULL;
	if (late && reader->nr_heap > 0 &&
	    (int64_t)(late->counter - reader->cursor[reader->heap[0]].counter) > 0)
		return NULL;
	return late;
}

/*
 * Take this late record, or count it as lost if it is before the cut-off, or overwritten.  If there is a gap to report,
 * do not report it now, but before the next record that is not late.  Return true if the late record is reported.
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
		hold(reader, record, filter);
		return false;
	}
	note_reported(reader, record->counter);
	report->length = record->length;
	report->copied = report->length < capacity ? report->length : capacity;
	return true;
}

/*
 * Return true if the next record is before the cut-off.  cut_ring() did not drop this record, because an uncommitted
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

	cut_ring(reader, i, &first);
	px_reader_note_gap(reader, first);
	/* If the record is still in the ring, it is not whole.  Pass it like a record that was never finished. */
	if (reader->cursor[i].is_record && is_cut(reader))
		pass_torn(reader, i);
	resettle_top(reader);
}

enum px_next px_reader_next(struct px_reader *reader, const struct px_eventset *filter, void *data,
			    size_t capacity, struct px_report *report)
{
	struct px_aside *late;
	bool fresh = false;

	for (int steps = 0; steps < STEPS_MAX; steps++) {
		if (px_unlikely(reader->has_waiting) && next_waiting(reader, data, capacity, report))
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
			if (is_pending(reader, reader->heap[0]))
				return PX_NEXT_PENDING;
			resettle_top(reader);
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
		cursor->extra = px_read_once(&ring.control->extra);
		cursor->position = px_load_acquire(&ring.control->head);
		cursor->head = cursor->position;
		cursor->is_record = false;
		cursor->released = cursor->position;
		px_ring_consume(&ring, cursor->position);
	}
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

/*
 * Correct the counts of a ring that was read completely.  Slots that did not become records were counted as lost
 * records: subtract them.  Return the number of reservations that did not become records and are not in the ring's
 * extra.  Their writers have died, or may still make another reservation.
 */
static uint64_t correct_counts(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	/* Load extra before head.  Then extra counts only reservations below that head. */
	uint64_t extra = px_load_acquire(&ring.control->extra);
	int64_t late = (int64_t)(extra - cursor->extra);

	if (px_read_once(&ring.control->head) != cursor->position)
		return 0;
	if (late < (cursor->is_guessed ? -(int64_t)ring.mask : 0))
		return (uint64_t)-late <= cursor->extra ? (uint64_t)-late : 0;
	cursor->is_guessed = false;
	if (late > 0 && (uint64_t)late > reader->loss.overwritten)
		late = (int64_t)reader->loss.overwritten;
	reader->loss.overwritten -= (uint64_t)late;
	cursor->extra += (uint64_t)late;
	return 0;
}

void px_reader_loss(struct px_reader *reader, struct px_loss *loss)
{
	uint64_t unfinished = 0;

	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++)
		unfinished += correct_counts(reader, i);
	*loss = reader->loss;
	loss->abandoned += unfinished;
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

	free_slots_of_the_dead(reader);
	if (reader->nr_aside > 0) {
		px_aside_look(reader);
		reader->has_late = true;
	}
	is_overrun = reader->is_overrun;
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		struct px_cursor *cursor = &reader->cursor[i];
		struct px_ring ring = px_reader_ring(reader, i);
		uint64_t head = px_load_acquire(&ring.control->head);

		if (has_unreported_lap(cursor, &ring, head)) {
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
