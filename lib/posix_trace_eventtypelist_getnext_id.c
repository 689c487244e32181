/* SPDX-License-Identifier: MIT */
#include "pages.h"

PX_EXPORT int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						   trace_event_id_t *restrict event,
						   int *restrict unavailable)
{
	struct px_stream *stream;

	if (!event || !unavailable || !(stream = px_handle_lock(trid)))
		return EINVAL;
	*unavailable = !px_stream_next_type(stream, event); /* TYPELIST-2: the end is no error */
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	px_stream_rewind_types(stream);
	px_handle_unlock(trid);
	return 0;
}
