/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include "log/archive.h"

static bool next_of_archive(struct px_archive *archive, unsigned int *id)
{
	unsigned int next = archive->kind->type(archive, archive->next_type);

	if (next == PX_EVENT_NONE)
		return false;
	archive->next_type++;
	*id = next;
	return true;
}

PX_EXPORT int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						   trace_event_id_t *restrict event,
						   int *restrict unavailable)
{
	struct px_handle handle;
	int saved_errno = errno;

	if (!event || !unavailable || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	/* TYPELIST-2: the end is not an error */
	*unavailable = !(handle.stream ? px_stream_next_type(handle.stream, event) :
					 next_of_archive(handle.archive, event));
	px_handle_unlock(trid);
	errno = saved_errno;
	return 0;
}

PX_EXPORT int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct px_handle handle;

	if (!px_handle_lock_any(trid, &handle))
		return EINVAL;
	if (handle.stream)
		px_stream_rewind_types(handle.stream);
	else
		handle.archive->next_type = 0;
	px_handle_unlock(trid);
	return 0;
}
