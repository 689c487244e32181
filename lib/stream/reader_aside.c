/* SPDX-License-Identifier: MIT */
#include "stream/reader_private.h"

#include "base/procfs.h"

#define QUESTIONS_MAX 16 /* one px_aside_look() asks the kernel at most this many questions */

static struct px_cursor *cursor_of(const struct px_reader *reader, const struct px_aside *aside)
{
	return &reader->cursor[aside->ring];
}

/*
 * Call this when a record of this entry was reported, or counted as lost.  The cursor's count already contains the
 * first record of an entry.
 */
static void count_record(struct px_reader *reader, struct px_aside *aside)
{
	if (aside->is_counted)
		cursor_of(reader, aside)->extra--;
	aside->is_counted = true;
}

static void count_overwritten(struct px_reader *reader, struct px_aside *aside)
{
	count_record(reader, aside);
	reader->loss.overwritten++;
	reader->is_overrun = true;
	px_reader_note_gap(reader, aside->counter);
}

static void count_abandoned(struct px_reader *reader, struct px_aside *aside)
{
	count_record(reader, aside);
	px_reader_abandon(reader, aside->counter);
}

/* If the ring's extra has set the cursor's extra since, it may have counted these slots already. */
static void count_nothing(struct px_reader *reader, const struct px_aside *aside)
{
	struct px_cursor *cursor = cursor_of(reader, aside);

	cursor->extra++;
	cursor->nr_unseen += aside->nr_jumps != cursor->nr_jumps;
}

/*
 * Move the entry to its next record, or to a slot that its owner has not committed yet.  Return false if the entry has
 * no more slots.  Several slots that a dead thread has left count as one record: px_reader_loss() corrects this.
 */
static bool refresh(struct px_reader *reader, struct px_aside *aside)
{
	struct px_ring ring = px_reader_ring(reader, aside->ring);
	bool is_lost = false, is_lapped = false;
	uint64_t word;

	aside->is_ready = false;
	for (; aside->position != aside->until; aside->position++) {
		switch (px_ring_look(&ring, aside->position, aside->until, &word)) {
		case PX_LOOK_RECORD:
			aside->word = word;
			aside->counter = px_record_counter(&ring, aside->position);
			aside->is_ready = px_ring_unchanged(&ring, aside->position, word);
			if (aside->is_ready)
				return true;
			is_lapped = true;
			continue;
		case PX_LOOK_CLAIMED:
			aside->tid = px_word_tid(word);
			return true;
		case PX_LOOK_UNCLAIMED:
			if (!px_ring_revoke(&ring, aside->position))
				return true;
			continue;
		case PX_LOOK_LAPPED:
			is_lapped |= aside->tid != 0;
			cursor_of(reader, aside)->nr_unseen += aside->tid == 0;
			continue;
		default:
			is_lost |= px_ring_is_left(word, aside->position);
			continue;
		}
	}
	if (is_lost)
		count_abandoned(reader, aside);
	else if (is_lapped)
		count_overwritten(reader, aside);
	else if (!aside->is_counted)
		count_nothing(reader, aside);
	return false;
}

static void remove_entry(struct px_reader *reader, struct px_aside *aside)
{
	*aside = reader->aside[--reader->nr_aside];
}

/*
 * The entry waits for its first slot.  A signal handler of the same thread may have committed a later record: make a
 * separate entry for that record.
 */
static void split(struct px_reader *reader, struct px_aside *aside)
{
	struct px_ring ring = px_reader_ring(reader, aside->ring);

	for (uint64_t p = aside->position + 1;
	     p != aside->until && reader->nr_aside < PX_READER_ASIDE_MAX; p++) {
		uint64_t word;

		if (px_ring_look(&ring, p, aside->until, &word) != PX_LOOK_RECORD)
			continue;
		reader->aside[reader->nr_aside] = *aside;
		reader->aside[reader->nr_aside].position = p;
		reader->aside[reader->nr_aside++].is_counted = true;
		aside->until = p;
		return;
	}
}

/* Ask the kernel about a few owners.  The next call asks about the owners after them. */
static void ask(struct px_reader *reader)
{
	uint64_t now = px_clock_monotonic_ns();

	if (now - reader->asked_ns < PX_READER_GRACE_NS)
		return;
	reader->asked_ns = now;
	for (uint32_t n = 0; n < QUESTIONS_MAX && n < reader->nr_aside; n++) {
		struct px_aside *aside = &reader->aside[reader->next_asked++ % reader->nr_aside];
		struct px_ring ring = px_reader_ring(reader, aside->ring);

		if (aside->tid != 0 && !aside->is_ready && !px_procfs_has(aside->tid))
			px_ring_reclaim(&ring, aside->position, aside->until);
	}
}

void px_aside_look(struct px_reader *reader)
{
	ask(reader);
	for (uint32_t k = 0; k < reader->nr_aside;) {
		struct px_aside *aside = &reader->aside[k];

		if (!refresh(reader, aside)) {
			remove_entry(reader, aside);
			continue;
		}
		if (!aside->is_ready)
			split(reader, aside);
		k++;
	}
}

struct px_aside *px_aside_first(const struct px_reader *reader)
{
	struct px_aside *first = NULL;

	for (uint32_t k = 0; k < reader->nr_aside; k++) {
		struct px_aside *aside = &reader->aside[k];

		if (aside->is_ready &&
		    (!first || (int64_t)(aside->counter - first->counter) < 0))
			first = aside;
	}
	return first;
}

void px_aside_done(struct px_reader *reader, struct px_aside *aside, uint32_t nr_slots)
{
	uint64_t left = aside->until - aside->position;

	if (nr_slots == 0)
		count_overwritten(reader, aside);
	else
		count_record(reader, aside);
	aside->position += nr_slots == 0 ? 1 : nr_slots < left ? nr_slots : left;
	if (!refresh(reader, aside))
		remove_entry(reader, aside);
}

/*
 * Slots that were skipped, or not claimed yet, become one entry together with their neighbours.  Records of several
 * writers may still come there: split() and count_record() allow for that.
 */
static uint64_t end_of_unclaimed(const struct px_ring *ring, const struct px_cursor *cursor)
{
	uint64_t until = cursor->position + 1;
	uint64_t word;

	while (until != cursor->head &&
	       px_ring_look(ring, until, cursor->head, &word) == PX_LOOK_UNCLAIMED)
		until++;
	return until;
}

/*
 * Slots that one thread has claimed one after another become one entry, also if the thread has committed some of the
 * further slots.
 */
static uint64_t end_of_claims(const struct px_reader *reader, const struct px_ring *ring,
			      const struct px_cursor *cursor)
{
	uint32_t tid = px_word_tid(cursor->word);
	uint64_t until = cursor->position + 1;
	uint64_t word;

	while (until != cursor->head &&
	       until - cursor->position < reader->view->geometry.event_slots &&
	       (px_ring_look(ring, until, cursor->head, &word) == PX_LOOK_CLAIMED ||
		px_ring_is_more(word, until)) &&
	       px_word_tid(word) == tid)
		until++;
	return until;
}

void px_aside_add(struct px_reader *reader, uint32_t i)
{
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	struct px_aside aside = {.ring = i,
				 .position = cursor->position,
				 .until = cursor->position + 1,
				 .counter = cursor->last_counter,
				 .nr_jumps = cursor->nr_jumps,
				 .holds_tail = reader->view->limit != 0};

	switch (px_ring_look(&ring, cursor->position, cursor->head, &cursor->word)) {
	case PX_LOOK_CLAIMED:
		aside.tid = px_word_tid(cursor->word);
		aside.until = end_of_claims(reader, &ring, cursor);
		break;
	case PX_LOOK_UNCLAIMED:
		aside.until = end_of_unclaimed(&ring, cursor);
		break;
	default:
		return; /* the writer has gone on in the meantime */
	}
	cursor->extra += aside.until - aside.position - 1;
	cursor->position = aside.until;
	if (reader->nr_aside < PX_READER_ASIDE_MAX)
		reader->aside[reader->nr_aside++] = aside;
	else
		px_reader_abandon(reader, aside.counter);
	PX_TESTPOINT("reader.aside.added");
}

uint64_t px_aside_tail(struct px_reader *reader, uint32_t i, uint64_t position)
{
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t head = px_read_once(&ring.control->head);
	uint64_t state = px_read_once(&reader->view->segment->state);

	for (uint32_t k = 0; k < reader->nr_aside; k++) {
		struct px_aside *aside = &reader->aside[k];

		if (aside->ring != i || !aside->holds_tail ||
		    (int64_t)(position - aside->position) <= 0)
			continue;
		aside->holds_tail = head - aside->position <= reader->view->limit / 2 &&
				    px_state_of(state) != PX_STATE_AUTO_FULL;
		if (aside->holds_tail)
			position = aside->position;
	}
	return position;
}

void px_aside_abandon_all(struct px_reader *reader)
{
	for (; reader->nr_aside > 0; reader->nr_aside--)
		count_abandoned(reader, &reader->aside[reader->nr_aside - 1]);
}
