/* SPDX-License-Identifier: MIT */
/*
 * The short way of many events from the rings to the log.  As long as the records at the top of the heap are usual
 * events, they go straight from their slots to the stage of the log.  Each step that is not usual ends the run before
 * it changes anything, so that the long way takes the same record.
 */
#include "log/usual.h"
#include "stream/reader_private.h"

/* One run. */
struct run {
	struct px_usual log;
	struct px_usual_place at;
	struct px_piece piece;
	uint64_t before; /* only records with an earlier counter */
	size_t data_max;
	uint64_t nr;
};

/* Return true if nothing comes before the next record. */
static bool is_plain(const struct px_reader *reader)
{
	return reader->nr_heap > 0 && reader->nr_aside == 0 && !reader->in_gap && !reader->has_waiting &&
	       !reader->has_late;
}

/* Return the lower one of two counters. */
PX_INLINE uint64_t earlier_of(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? a : b;
}

/* Return the counter before which the ring at the top of the heap stays there. */
static uint64_t end_of_top(const struct px_reader *reader, uint64_t before)
{
	/* If two rings have the same counter, the first one stays at the top. */
	if (reader->nr_heap > 1)
		before = earlier_of(before, reader->cursor[reader->heap[1]].counter + 1);
	if (reader->nr_heap > 2)
		before = earlier_of(before, reader->cursor[reader->heap[2]].counter + 1);
	return before;
}

/*
 * Stage the record at this position, whose slot word is `word`.  Return its number of slots; 0: it is no usual event,
 * it does not end before `end`, or a writer has overwritten it meanwhile.
 */
PX_INLINE uint32_t stage(struct run *run, struct px_usual_place *at, const struct px_ring *ring, uint64_t position,
			 uint64_t end, uint64_t word, uint64_t counter)
{
	const struct px_slot *slot = &ring->slots[position & ring->mask];
	const px_pair *entry = (const px_pair *)&ring->entries[position & ring->mask];
	uint64_t pair = px_read_once(entry), body2 = px_read_once(&slot->body[2]), body3 = px_read_once(&slot->body[3]);
	struct px_usual_event event = {.address = px_read_once(&slot->body[0]),
				       .thread = px_read_once(&slot->body[1]),
				       .pid = (uint32_t)body2,
				       .id = body3 & 0xFFFF,
				       .flags = body3 >> 16 & 0xFFFF,
				       .context = px_pair_first(pair),
				       .priority = px_pair_second(pair),
				       .cpu = px_pair_first(px_read_once(entry + 1)) >> 24,
				       .length = (uint32_t)(body2 >> 32),
				       .first = px_read_once(entry + 2),
				       .second = px_read_once(entry + 3)};
	uint32_t n = px_record_slots(event.length);
	struct px_usual_place next;
	unsigned char *to;

	if (px_unlikely(!px_piece_has(&run->piece, counter) || (event.flags & ~(uint32_t)PX_RECORD_TRUNCATED) != 0 ||
			event.length > run->data_max || n > end - position || !px_is_thread(event.context)))
		return 0;
	event.time_ns = px_piece_convert(&run->piece, counter);
	to = px_usual_add(&run->log, at, &event, &next);
	if (px_unlikely(!to))
		return 0;
	PX_TESTPOINT("reader.run.added");
	if (n > 1)
		px_record_copy_more(ring, position, event.length - PX_RECORD_FIRST_BYTES, to);
	PX_TESTPOINT("record.read.copied");
	if (px_unlikely(!px_record_is_whole(ring, position, word, n)))
		return 0;
	PX_TESTPOINT("reader.take.copied");
	px_usual_keep(at, &next);
	return n;
}

/*
 * The cursor of the ring at the top of the heap has passed records.  Order the heap again.  *counter is that of the
 * next record, if *word is the slot word of one.
 */
static void order(struct px_reader *reader, uint64_t word, uint64_t counter, bool has_next)
{
	uint32_t i = reader->heap[0];
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);

	if (!has_next || (int64_t)(counter - reader->horizon) >= 0 ||
	    !px_ring_unchanged(&ring, cursor->position, word)) {
		px_reader_resettle_top(reader);
		return;
	}
	cursor->word = word;
	cursor->counter = counter;
	cursor->is_record = true;
	px_reader_sift_down(reader, 0);
}

/* Take records of the ring at the top of the heap.  Return false if the run ends. */
static bool take_top(struct px_reader *reader, struct run *run)
{
	uint32_t i = reader->heap[0];
	struct px_cursor *cursor = &reader->cursor[i];
	struct px_ring ring = px_reader_ring(reader, i);
	uint64_t before = end_of_top(reader, run->before), nr_before = run->nr;
	uint64_t position = cursor->position, counter = cursor->counter, word = cursor->word;
	struct px_taken taken = {.ring = i};
	struct px_usual_place at = run->at;
	bool has_next = cursor->is_record, is_stopped = false;

	if (!has_next || cursor->head - position > ring.mask + 1 || (int64_t)(counter - reader->cut) < 0)
		return false;
	while (has_next && (int64_t)(counter - before) < 0) {
		uint32_t n = stage(run, &at, &ring, position, cursor->head, word, counter);

		if (px_unlikely(n == 0)) {
			is_stopped = true;
			break;
		}
		taken.position = position;
		taken.extra = cursor->extra;
		taken.last_counter = cursor->last_counter;
		taken.reported_counter = reader->reported_counter;
		cursor->position = position += n;
		cursor->extra += n - 1;
		cursor->last_counter = counter;
		px_reader_note_reported(reader, counter);
		px_reader_consume(reader, i);
		run->nr++;
		if (px_unlikely(position == cursor->head)) {
			has_next = false;
		} else {
			has_next = px_ring_has_record(&ring, position, &word);
			counter = px_record_counter(&ring, position);
		}
		if (px_unlikely(reader->keeps_slots && position - cursor->released > reader->view->limit / 4)) {
			is_stopped = true; /* px_reader_keeps_much() */
			break;
		}
	}
	if (run->nr == nr_before)
		return false;
	run->at = at;
	reader->reported = PX_REPORTED_RECORD;
	reader->taken = taken;
	cursor->is_record = false;
	order(reader, word, counter, has_next);
	return !is_stopped;
}

uint64_t px_reader_run(struct px_reader *reader, struct px_log *log, struct px_reader_run *limits)
{
	struct run run = {.before = reader->horizon, .data_max = limits->data_max};

	if (!is_plain(reader) || !reader->cursor[reader->heap[0]].is_record ||
	    !px_timeline_piece(&reader->timeline, reader->cursor[reader->heap[0]].counter, &run.piece) ||
	    !px_usual_begin(log, limits->earliest_ns, &run.log, &run.at))
		return 0;
	if (limits->has_bound)
		run.before = earlier_of(run.before, limits->bound);
	while (is_plain(reader) && take_top(reader, &run))
		continue;
	px_usual_end(&run.log, run.at);
	if (run.nr > 0)
		limits->earliest_ns = run.at.last_ns;
	return run.nr;
}
