/* SPDX-License-Identifier: MIT */
/* Descriptions of spans. */
#include "api/api.h"

#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "fields/span.h"
#include "trace/process.h"
#include "trace/types.h"

_Static_assert(PX_NAME_MAX <= PX_SPAN_NAME_MAX, "PX_SPAN_NAME_MAX");

static int describe(const char *name, trace_event_id_t begin, trace_event_id_t end, const char *field)
{
	char begin_name[PX_NAME_MAX + 1], end_name[PX_NAME_MAX + 1], text[PX_SPAN_TEXT_MAX + 1];
	unsigned int id;
	size_t length;
	int error = px_types_name(begin, begin_name);

	if (!error)
		error = px_types_name(end, end_name);
	if (error)
		return error;
	if (strcmp(name, begin_name) == 0 || strcmp(name, end_name) == 0)
		return EINVAL;
	error = px_process_open_type(name, &id);
	if (error)
		return error;
	if (id == POSIX_TRACE_UNNAMED_USEREVENT)
		return ENOSPC;
	length = px_span_write(begin_name, end_name, field, text);
	return px_process_describe_type(id, text, length);
}

PX_EXPORT int txtrace_describe_span(const char *name, trace_event_id_t begin, trace_event_id_t end, const char *field)
{
	int error, state, saved_errno = errno;

	if (!name || !*name || (field && !px_span_is_path(field)))
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = describe(name, begin, end, field);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}
