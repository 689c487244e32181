/* SPDX-License-Identifier: MIT */
/*
 * The part of a stream that serves its log.  It records the events of a flush, stops the stream when the log is full,
 * and fills in the state for a commit.
 */
#include "stream/stream_private.h"

#include <string.h>

/* Return true if the stream neither records, nor waits for room to record again. */
static bool has_ended(uint64_t state)
{
	return px_state_of(state) != PX_STATE_RUNNING &&
	       !(px_state_of(state) == PX_STATE_AUTO_FULL && (state & PX_STATE_ARMED));
}

bool px_stream_mark_flush(struct px_stream *stream, uint32_t id, const struct px_caller *caller,
			  uint64_t *counter)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	struct px_marks marks = {0};
	bool is_recorded;

	if (has_ended(state))
		return false;
	if (px_eventset_has(px_stream_filter_of(stream, state), id))
		return false;
	/*
	 * If an automatic STOP is due, the reader must report it directly after the last event.  This event comes after
	 * the STOP (UFULL-2).  If the stream has dropped events since, OVERFLOW comes before this event, too: it is
	 * older.
	 */
	marks.stopped = px_auto_stop_due(&stream->view, state);
	if (px_state_of(state) == PX_STATE_AUTO_FULL &&
	    px_view_unmarked_drops(&stream->view) != px_read_once(&stream->view.segment->run.dropped)) {
		marks.gap = PX_GAP_BEGINS;
		marks.first_dropped = px_stream_first_dropped(stream);
	}
	if (!marks.stopped && !marks.gap)
		return px_stream_record(stream, id, 0, NULL, 0, caller, counter);
	is_recorded = px_stream_record(stream, id, PX_RECORD_MARKS, &marks, sizeof(marks), caller, counter);
	if (is_recorded && marks.gap)
		px_view_forget_first_dropped(&stream->view, marks.first_dropped);
	return is_recorded;
}

/* When OVERFLOW is in the log, a process that continues this log finds in the checkpoint that it is reported. */
bool px_stream_last_gap(struct px_stream *stream, struct px_report *report)
{
	struct px_reader *reader = &stream->reader;
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	uint64_t counter = px_read_once(&stream->view.segment->first_dropped);

	if (counter == 0 || !has_ended(state) || reader->skips_overflow || px_log_refuses(stream->logging.log) ||
	    px_eventset_has(px_stream_filter_of(stream, state), PX_EVENT_OVERFLOW))
		return false;
	if ((int64_t)(counter - reader->reported_counter) < 0)
		counter = reader->reported_counter;
	reader->skips_overflow = true;
	reader->reported = PX_REPORTED_LAST_OVERFLOW;
	memset(report, 0, sizeof(*report));
	report->record.id = PX_EVENT_OVERFLOW;
	report->record.counter = counter;
	report->record.pid = stream->target.pid;
	report->time_ns = px_timeline_convert(&reader->timeline, counter);
	return true;
}

void px_stream_mark_error(struct px_stream *stream, int error)
{
	uint64_t state = px_load_acquire(&stream->view.segment->state);
	uint64_t counter;

	if (px_state_of(state) == PX_STATE_RUNNING &&
	    !px_eventset_has(px_stream_filter_of(stream, state), PX_EVENT_ERROR))
		px_stream_record(stream, PX_EVENT_ERROR, 0, &error, sizeof(error), NULL, &counter);
}

bool px_stream_suspend(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	uint64_t state;

	stream->logging.is_suspended = true;
	do
		state = px_load_acquire(&segment->state);
	while (!px_compare_exchange(&segment->state, state,
				    px_state_next(state, PX_STATE_STOPPED, false)));
	return !px_eventset_has(px_stream_filter_of(stream, state), PX_EVENT_STOP);
}

void px_stream_clear_log(struct px_stream *stream)
{
	struct px_logging *logging = &stream->logging;
	struct px_log_state state;

	logging->is_suspended = logging->log_is_full = false;
	logging->nr_lost = logging->nr_lost_reported = 0;
	logging->flush_error = 0;
	logging->heads = px_view_heads(&stream->view);
	logging->waiting_ns = 0;
	if (!logging->log)
		return;
	px_stream_log_state(stream, false, &state);
	px_log_clear(logging->log, &state);
}

void px_stream_report_log_status(struct px_logging *logging, struct px_status *status)
{
	status->is_flushing = logging->is_flushing;
	status->log_is_full = logging->log_is_full;
	status->log_is_overrun = logging->nr_lost != logging->nr_lost_reported;
	status->flush_error = logging->flush_error;
	logging->nr_lost_reported = logging->nr_lost;
	logging->flush_error = 0;
}

double px_stream_tick_ns(const struct px_stream *stream)
{
	return (double)px_timeline_scale(&stream->reader.timeline) / (double)(UINT64_C(1) << 48);
}

static void fill_checkpoint(const struct px_stream *stream, bool in_hand,
			    struct px_checkpoint *checkpoint)
{
	px_reader_checkpoint(&stream->reader, in_hand, checkpoint);
	checkpoint->dropped_base = stream->dropped_base;
	checkpoint->given_up_base = stream->given_up_base;
	checkpoint->was_overrun = stream->was_overrun;
	checkpoint->is_suspended = stream->logging.is_suspended;
}

void px_stream_log_state(struct px_stream *stream, bool in_hand, struct px_log_state *state)
{
	px_stream_loss(stream, &state->loss);
	/* Do not report the overrun here, because get_status must still report it. */
	state->is_overrun = stream->was_overrun || state->loss.overwritten != 0 ||
			    state->loss.dropped != 0 || state->loss.abandoned != 0;
	state->is_full = px_view_is_full(&stream->view);
	state->tick_ns = px_stream_tick_ns(stream);
	state->offset_ns = stream->reader.timeline.realtime_offset_ns;
	state->checkpoint = stream->logging.checkpoint;
	fill_checkpoint(stream, in_hand, state->checkpoint);
}
