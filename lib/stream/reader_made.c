/* SPDX-License-Identifier: MIT */
/* Events that the reader synthesizes, and the record that it holds back until they are reported. */
#include "stream/reader_private.h"

#include <string.h>

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

	/* The stop happened with the last recorded event (UFULL-2). */
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

bool px_reader_next_made(struct px_reader *reader, void *data, size_t capacity,
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
		px_reader_note_reported(reader, reader->held.counter);
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
 * memory, so their values may be wrong.
 */
static enum px_gap read_marks(struct px_reader *reader)
{
	struct px_record *held = &reader->held;
	struct px_marks marks;

	if (held->length < sizeof(marks))
		return PX_GAP_NONE;
	held->length -= sizeof(marks);
	memcpy(&marks, reader->held_data + held->length, sizeof(marks));
	px_auto_stop_queue(&reader->stop, marks.stopped);
	/*
	 * Events were dropped before this record.  If the counter of the drop is later than that of the record, it is
	 * wrong: OVERFLOW must not get a time after the record.
	 */
	if ((int64_t)(marks.first_dropped - held->counter) > 0)
		marks.first_dropped = held->counter;
	if (!marks.gap || !marks.first_dropped)
		return PX_GAP_NONE;
	px_view_forget_first_dropped(reader->view, marks.first_dropped);
	px_reader_note_gap(reader, marks.first_dropped);
	return marks.gap == PX_GAP_BEGINS ? PX_GAP_BEGINS : PX_GAP_ENDS;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0 ? a : b;
}

/*
 * Queue OVERFLOW and RESUME.  If the stream is still full at the held record, queue OVERFLOW only: a later record ends
 * the gap.
 */
static void queue_gap(struct px_reader *reader, enum px_gap gap, const struct px_eventset *filter)
{
	/* The reader may have found the gap late: keep the times in order. */
	reader->overflow_counter = later_of(reader->gap_counter, reader->reported_counter);
	reader->resume_counter = later_of(reader->held.counter, reader->overflow_counter);
	reader->overflow_waits = !reader->skips_overflow &&
				 !px_eventset_has(filter, PX_EVENT_OVERFLOW);
	reader->in_gap = reader->skips_overflow = gap == PX_GAP_BEGINS;
	reader->resume_waits = !reader->in_gap && !reader->skips_resume &&
			       !px_eventset_has(filter, PX_EVENT_RESUME);
	reader->skips_resume = false;
}

void px_reader_hold(struct px_reader *reader, const struct px_record *record,
		    const struct px_eventset *filter)
{
	enum px_gap gap = PX_GAP_NONE;

	reader->has_waiting = true;
	reader->held = *record;
	if (reader->held.length > reader->held_capacity)
		reader->held.length = (uint32_t)reader->held_capacity; /* only a hostile writer causes this */
	if (record->flags & PX_RECORD_MARKS)
		gap = read_marks(reader);
	if (record->flags & PX_RECORD_SILENT)
		return; /* the next record reports a gap */
	reader->held_waits = true;
	if (reader->in_gap)
		queue_gap(reader, gap, filter);
	else
		reader->skips_overflow = reader->skips_resume = false;
}
