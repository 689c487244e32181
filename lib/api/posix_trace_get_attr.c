/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include "log/archive.h"

PX_EXPORT int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct px_handle handle;
	int saved_errno = errno;

	if (!attr || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	if (handle.archive)
		handle.archive->kind->complete_info(handle.archive);
	/* GETATTR-4: replace any earlier contents. */
	*px_attr_of(attr) = handle.stream ? handle.stream->attr : handle.archive->attr;
	px_handle_unlock(trid);
	errno = saved_errno;
	return 0;
}

static struct posix_trace_status_info of_stream(struct px_stream *stream)
{
	struct px_status status;

	px_stream_status(stream, &status);
	/* STATUS-6: if the stream has no log, the values of the log are zero. */
	return (struct posix_trace_status_info){
		.posix_stream_status = status.is_running ? POSIX_TRACE_RUNNING :
							   POSIX_TRACE_SUSPENDED,
		.posix_stream_full_status = status.is_full ? POSIX_TRACE_FULL :
							     POSIX_TRACE_NOT_FULL,
		.posix_stream_overrun_status = status.is_overrun ? POSIX_TRACE_OVERRUN :
								   POSIX_TRACE_NO_OVERRUN,
		.posix_stream_flush_status = status.is_flushing ? POSIX_TRACE_FLUSHING :
								  POSIX_TRACE_NOT_FLUSHING,
		.posix_stream_flush_error = status.flush_error,
		.posix_log_overrun_status = status.log_is_overrun ? POSIX_TRACE_OVERRUN :
								    POSIX_TRACE_NO_OVERRUN,
		.posix_log_full_status = status.log_is_full ? POSIX_TRACE_FULL :
							      POSIX_TRACE_NOT_FULL,
	};
}

/* STATUS-7, STATUS-8: return the status that the stream had at its end.  Never reset it. */
static struct posix_trace_status_info of_archive(const struct px_archive_status *status)
{
	return (struct posix_trace_status_info){
		.posix_stream_status = POSIX_TRACE_SUSPENDED,
		.posix_stream_full_status = status->is_full ? POSIX_TRACE_FULL :
							      POSIX_TRACE_NOT_FULL,
		.posix_stream_overrun_status = status->is_overrun ? POSIX_TRACE_OVERRUN :
								    POSIX_TRACE_NO_OVERRUN,
		.posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING,
		.posix_stream_flush_error = status->flush_error,
		.posix_log_overrun_status = status->log_is_overrun ? POSIX_TRACE_OVERRUN :
								     POSIX_TRACE_NO_OVERRUN,
		.posix_log_full_status = status->log_is_full ? POSIX_TRACE_FULL :
							       POSIX_TRACE_NOT_FULL,
	};
}

PX_EXPORT int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	struct px_handle handle;
	int saved_errno = errno;

	if (!statusinfo || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	*statusinfo = handle.stream ? of_stream(handle.stream) :
				      of_archive(&handle.archive->status);
	px_handle_unlock(trid);
	errno = saved_errno;
	return 0;
}
