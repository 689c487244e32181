/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <string.h>

#include "archive.h"
#include "process.h"
#include "types.h"

/* EVEQ-2: no errors, and trid does not matter: an id means the same in all streams of a process. */
PX_EXPORT int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1,
					trace_event_id_t event2)
{
	(void)trid;
	return event1 == event2;
}

PX_EXPORT int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event,
					   char *event_name)
{
	char name[PX_NAME_MAX + 1];
	struct px_handle handle;
	int saved_errno = errno;
	int error;

	if (!event_name || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	error = handle.stream ? px_types_name(event, name) :
				handle.archive->kind->type_name(handle.archive, event, name);
	px_handle_unlock(trid);
	errno = saved_errno;
	if (!error)
		strcpy(event_name, name);
	return error;
}

PX_EXPORT int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict event_name,
					    trace_event_id_t *restrict event)
{
	if (!event_name || !event || !px_handle_lock(trid))
		return EINVAL;
	px_handle_unlock(trid);
	return px_process_open_type(event_name, event);
}
