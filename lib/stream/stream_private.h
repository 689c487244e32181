/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a stream share: stream.c (the state machine, reading), create.c (beginning and
 * end), log_state.c (flushes and the state of the log) and orphan.c (a stream with a dead controller).
 * No other file includes this.
 */
#ifndef PX_STREAM_STREAM_PRIVATE_H
#define PX_STREAM_STREAM_PRIVATE_H

#include "stream/stream.h"

/*
 * Record a control event, and return its counter in *counter.  The event belongs to the calling thread if
 * this process is the target, else to no thread (INFO-9).
 */
bool px_stream_record(struct px_stream *stream, uint32_t id, uint32_t flags, const void *data,
		      size_t length, const struct px_caller *caller, uint64_t *counter);

/* Change RUNNING to STOPPED, unless a writer has changed it to AUTO_FULL. */
void px_stream_leave_running(struct px_stream *stream);

/* Return the filter of this state word. */
PX_INLINE const struct px_eventset *px_stream_filter_of(const struct px_stream *stream,
							uint64_t state)
{
	return &stream->view.segment->filter[px_state_filter(state)];
}

/* log_state.c */

/* Reset the log and the state of the log, as after creation. */
void px_stream_clear_log(struct px_stream *stream);

/* Fill in the log's part of the status.  Overrun and error are reported once: this resets them. */
void px_stream_report_log_status(struct px_logging *logging, struct px_status *status);

#endif
