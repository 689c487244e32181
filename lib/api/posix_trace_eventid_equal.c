/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>
#include <string.h>

#include "log/archive.h"

/* EVEQ-2: there are no errors.  Ignore trid, because an id has the same meaning in all streams of a process. */
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
	error = handle.stream ? px_stream_type_name(handle.stream, event, name) :
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
	struct px_stream *stream;
	int error, state;

	if (!event_name || !event)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* a call that opens a name in the table may wait */
	stream = px_handle_lock(trid);
	error = stream ? px_stream_open_type(stream, event_name, event) : EINVAL;
	if (stream)
		px_handle_unlock(trid);
	pthread_setcancelstate(state, &state);
	return error;
}
