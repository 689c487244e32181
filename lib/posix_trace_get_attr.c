/* SPDX-License-Identifier: MIT */
#include "pages.h"

PX_EXPORT int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct px_stream *stream;

	if (!attr || !(stream = px_handle_lock(trid)))
		return EINVAL;
	*px_attr_of(attr) = stream->attr; /* GETATTR-4: whatever was in it before */
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	struct px_stream *stream;
	struct px_status status;

	if (!statusinfo || !(stream = px_handle_lock(trid)))
		return EINVAL;
	px_stream_status(stream, &status);
	px_handle_unlock(trid);
	/* STATUS-6: what belongs to a log is zero in a stream without one. */
	*statusinfo = (struct posix_trace_status_info){
		.posix_stream_status = status.is_running ? POSIX_TRACE_RUNNING :
							   POSIX_TRACE_SUSPENDED,
		.posix_stream_full_status = status.is_full ? POSIX_TRACE_FULL :
							     POSIX_TRACE_NOT_FULL,
		.posix_stream_overrun_status = status.is_overrun ? POSIX_TRACE_OVERRUN :
								   POSIX_TRACE_NO_OVERRUN,
		.posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING,
		.posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN,
		.posix_log_full_status = POSIX_TRACE_NOT_FULL,
	};
	return 0;
}
