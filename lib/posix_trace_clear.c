/* SPDX-License-Identifier: MIT */
#include "pages.h"

PX_EXPORT int posix_trace_clear(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	px_stream_clear(stream);
	px_handle_unlock(trid);
	return 0;
}
