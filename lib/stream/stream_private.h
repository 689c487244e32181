/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a stream share: stream.c (the state machine, reading), create.c (beginning and
 * end), log_state.c (flushes and the state of the log) and orphan.c (without its controller).
 * Nobody else looks at it.
 */
#ifndef PX_STREAM_STREAM_PRIVATE_H
#define PX_STREAM_STREAM_PRIVATE_H

#include "stream/stream.h"

/*
 * Record a control event; its counter is in *counter.  It is the calling thread's, if that is one of the
 * target; else nobody's (INFO-9).
 */
bool px_stream_record(struct px_stream *stream, uint32_t id, uint32_t flags, const void *data,
		      size_t length, const struct px_caller *caller, uint64_t *counter);

/* Leave RUNNING for STOPPED, unless a writer has left it for AUTO_FULL. */
void px_stream_leave_running(struct px_stream *stream);

/* The filter that this state names. */
PX_INLINE const struct px_eventset *px_stream_filter_of(const struct px_stream *stream,
							uint64_t state)
{
	return &stream->view.segment->filter[px_state_filter(state)];
}

/* log_state.c */

/* As after creation. */
void px_stream_clear_log(struct px_stream *stream);

/* The log's part of the status; what is told once is told by this. */
void px_stream_tell_log_status(struct px_logging *logging, struct px_status *status);

#endif
