/* SPDX-License-Identifier: MIT */
/* Cursors, and the heap that orders them. */
#include "stream/reader_private.h"

void px_reader_sift_down(struct px_reader *reader, uint32_t at)
{
	uint32_t *heap = reader->heap;
	uint32_t moving = heap[at];
	uint32_t child;

	while ((child = 2 * at + 1) < reader->nr_heap) {
		if (child + 1 < reader->nr_heap && px_reader_is_earlier(reader, heap[child + 1], heap[child]))
			child++;
		if (!px_reader_is_earlier(reader, heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

/*
 * The cursor is at a slot that will hold no record.  If the slot was freed because its owner was dead, count one event
 * as lost.  Count neighbouring slots of one thread only once.  The thread may have died during its commit: then some of
 * these slots are committed.
 */
static void pass_nothing(struct px_reader *reader, struct px_cursor *cursor)
{
	uint32_t tid = px_word_tid(cursor->word);
	bool is_left = px_ring_is_left(cursor->word, cursor->position);
	bool is_same = cursor->position == cursor->passed_until && tid == cursor->passed_tid;

	if (px_unlikely(is_left && !is_same)) {
		px_reader_abandon(reader, cursor->last_counter);
		cursor->extra--; /* count this slot as one record */
	}
	if (px_unlikely(is_left || (is_same && px_ring_is_more(cursor->word, cursor->position)))) {
		cursor->passed_until = cursor->position + 1;
		cursor->passed_tid = tid;
	}
	cursor->position++;
	cursor->extra++;
}

enum px_settled px_reader_settle(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);

	/* Leave is_record and counter as they are: first_lost() needs them. */
	if (cursor->head - cursor->position > ring.mask + 1)
		return PX_SETTLED_LAPPED;
	cursor->is_record = false;
	while (px_unlikely(cursor->position == cursor->head ||
			   !px_ring_has_record(&ring, cursor->position, &cursor->word))) {
		switch (px_ring_look(&ring, cursor->position, cursor->head, &cursor->word)) {
		case PX_LOOK_EMPTY:
			return PX_SETTLED_EMPTY;
		case PX_LOOK_NOTHING:
			pass_nothing(reader, cursor);
			continue;
		case PX_LOOK_LAPPED:
			return PX_SETTLED_LAPPED;
		case PX_LOOK_CLAIMED:
		case PX_LOOK_UNCLAIMED:
			cursor->counter = cursor->last_counter;
			return PX_SETTLED_READY;
		case PX_LOOK_RECORD:
			continue;
		}
	}
	cursor->counter = px_record_counter(&ring, cursor->position);
	if (!px_ring_unchanged(&ring, cursor->position, cursor->word))
		return PX_SETTLED_LAPPED;
	if ((int64_t)(cursor->counter - reader->horizon) >= 0) {
		cursor->head = cursor->position; /* for the next snapshot */
		return PX_SETTLED_EMPTY;
	}
	cursor->is_record = true;
	return PX_SETTLED_READY;
}

bool px_reader_build_heap(struct px_reader *reader)
{
	reader->nr_heap = 0;
	for (uint32_t i = 0; i < reader->view->rings.nr_rings; i++) {
		enum px_settled settled = px_reader_settle(reader, i);

		if (settled == PX_SETTLED_LAPPED)
			return false;
		px_reader_consume(reader, i);
		if (settled == PX_SETTLED_READY)
			reader->heap[reader->nr_heap++] = i;
	}
	for (uint32_t at = reader->nr_heap / 2; at-- > 0;)
		px_reader_sift_down(reader, at);
	return true;
}
