/* SPDX-License-Identifier: MIT */
/*
 * Declarations that these files share: stream.c (the state machine, reading), log_state.c (flushes and the state of the
 * log) and orphan.c (a stream with a dead controller).  No other file includes this.
 */
#ifndef PX_STREAM_STREAM_PRIVATE_H
#define PX_STREAM_STREAM_PRIVATE_H

#include "stream/stream.h"

/*
 * Record a control event, and store its counter in *counter.  Return false if the event could not be recorded.  The
 * event belongs to the calling thread if this process is the target, otherwise to no thread (INFO-9).
 */
bool px_stream_record(struct px_stream *stream, uint32_t id, uint32_t flags, const void *data,
		      size_t length, const struct px_caller *caller, uint64_t *counter);

/*
 * Return the counter of the first event dropped since the last START or the last recorded gap, but not a counter before
 * that START.  When the gap is recorded, call px_view_forget_first_dropped().
 */
uint64_t px_stream_first_dropped(const struct px_stream *stream);

/*
 * The stream has started: mark the loss of events that were dropped since START was recorded.  They are of writers that
 * read the state before that.  Such a writer that counts its event later marks the loss itself (check_state.h).
 */
void px_stream_mark_late_drops(struct px_stream *stream);

/* Change RUNNING to STOPPED, unless a writer has changed it to AUTO_FULL. */
void px_stream_leave_running(struct px_stream *stream);

/* Return the filter that this state word selects. */
PX_INLINE const struct px_eventset *px_stream_filter_of(const struct px_stream *stream,
							uint64_t state)
{
	return &stream->view.segment->filter[px_state_filter(state)];
}

/* log_state.c */

/* Reset the log in memory, and all members of the stream that describe the log, to their state after creation. */
void px_stream_clear_log(struct px_stream *stream);

/* Fill in the log's part of the status.  This function reports each overrun and error only once. */
void px_stream_report_log_status(struct px_logging *logging, struct px_status *status);

#endif
