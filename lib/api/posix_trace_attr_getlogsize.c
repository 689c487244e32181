/* SPDX-License-Identifier: MIT */
/* Sizes: of event data, of events in a stream, of a stream, of a log. */
#include "api/api.h"

#include "ring/record.h"

PX_EXPORT int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict attr,
					      size_t *restrict maxdatasize)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !maxdatasize)
		return EINVAL;
	*maxdatasize = (size_t)from->max_data_size;
	return 0;
}

PX_EXPORT int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to) || maxdatasize > PX_ATTR_DATA_SIZE_MAX)
		return EINVAL;
	to->max_data_size = maxdatasize;
	return 0;
}

/*
 * MAXSYS-2: the largest system event is FILTER, which has two sets.  The attribute max-data-size applies only to user
 * data.
 */
PX_EXPORT int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict attr,
						     size_t *restrict eventsize)
{
	if (!px_attr_is_valid(px_attr_to_read(attr)) || !eventsize)
		return EINVAL;
	*eventsize = (size_t)px_record_size(PX_SYSTEM_EVENT_BYTES);
	return 0;
}

PX_EXPORT int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict attr,
						   size_t data_len, size_t *restrict eventsize)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !eventsize)
		return EINVAL;
	/* MAXUSR-2: the writer truncates longer data when it records an event. */
	if (data_len > from->max_data_size)
		data_len = (size_t)from->max_data_size;
	*eventsize = (size_t)px_record_size(data_len);
	return 0;
}

PX_EXPORT int posix_trace_attr_getstreamsize(const trace_attr_t *restrict attr,
					     size_t *restrict streamsize)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !streamsize)
		return EINVAL;
	*streamsize = (size_t)from->stream_size;
	return 0;
}

/* SETSS-2: the create functions detect sizes that are too small or too large. */
PX_EXPORT int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to))
		return EINVAL;
	to->stream_size = streamsize;
	return 0;
}

PX_EXPORT int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr,
					  size_t *restrict logsize)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !logsize)
		return EINVAL;
	*logsize = (size_t)from->log_size;
	return 0;
}

/* SETLS-2: the function that creates the log adjusts sizes that are too small or too large. */
PX_EXPORT int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to))
		return EINVAL;
	to->log_size = logsize;
	return 0;
}
