/* SPDX-License-Identifier: MIT */
#include "api/api.h"

PX_EXPORT_CALL int posix_trace_start(trace_id_t trid)
{
	struct px_caller caller = {__builtin_return_address(0)};
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	px_stream_start(stream, &caller);
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT_CALL int posix_trace_stop(trace_id_t trid)
{
	struct px_caller caller = {__builtin_return_address(0)};
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	px_stream_stop(stream, &caller);
	px_handle_unlock(trid);
	return 0;
}
