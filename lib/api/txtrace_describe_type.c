/* SPDX-License-Identifier: MIT */
/* Descriptions of the data of event types. */
#include "api/api.h"

#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "fields/fields.h"
#include "log/archive.h"
#include "trace/process.h"

/* Return 0, EINVAL or ENOMEM. */
static int check(const char *description, size_t *length, struct px_fields_error *error)
{
	const struct px_fields_model model = px_fields_native();
	struct px_fields *fields = NULL;
	int result;

	*length = strnlen(description, PX_FIELDS_TEXT_MAX + 1);
	result = px_fields_parse(description, *length, &model, &fields, error);
	px_fields_free(fields);
	return result;
}

PX_EXPORT int txtrace_describe_check(const char *restrict description, size_t *restrict column,
				     const char **restrict mistake)
{
	struct px_fields_error error;
	int result, saved_errno = errno;
	size_t length;

	if (!description || !column)
		return EINVAL;
	*column = 0;
	result = check(description, &length, &error);
	errno = saved_errno;
	if (result == EINVAL) {
		*column = error.column;
		if (mistake)
			*mistake = error.what;
	}
	return result;
}

PX_EXPORT int txtrace_describe_type(trace_event_id_t event, const char *description)
{
	struct px_fields_error mistake;
	int error, state, saved_errno = errno;
	size_t length;

	if (!description)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = check(description, &length, &mistake);
	if (!error)
		error = px_process_describe_type(event, description, length);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_trid_describe_type(trace_id_t trid, trace_event_id_t event, const char *description)
{
	struct px_fields_error mistake;
	int error, saved_errno = errno;
	struct px_handle handle;
	size_t length;

	if (!description)
		return EINVAL;
	error = check(description, &length, &mistake);
	if (!error && !px_handle_lock_any(trid, &handle))
		error = EINVAL;
	if (!error) {
		error = handle.stream ? px_stream_describe_type(handle.stream, event, description, length) :
					px_archive_describe(handle.archive, event, description, length);
		px_handle_unlock(trid);
	}
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_get_type_description(trace_id_t trid, trace_event_id_t event, char *buffer,
					   size_t size, size_t *length)
{
	char text[PX_FIELDS_TEXT_MAX], name[PX_NAME_MAX + 1];
	struct px_handle handle;
	int error, saved_errno = errno;
	size_t found = 0;

	if (!length || (!buffer && size > 0) || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	if (handle.stream) {
		error = px_stream_type_name(handle.stream, event, name);
		if (!error)
			found = px_stream_description(handle.stream, event, text);
	} else {
		error = handle.archive->kind->type_name(handle.archive, event, name);
		if (!error)
			found = px_archive_description(handle.archive, event, text);
	}
	px_handle_unlock(trid);
	errno = saved_errno;
	if (error)
		return error;
	*length = found;
	if (size == 0 && !buffer)
		return 0;
	if (found > size)
		return ENOSPC;
	memcpy(buffer, text, found);
	return 0;
}
