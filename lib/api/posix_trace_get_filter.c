/* SPDX-License-Identifier: MIT */
#include "api/api.h"

PX_EXPORT int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct px_stream *stream;

	if (!set || !(stream = px_handle_lock(trid)))
		return EINVAL;
	px_stream_get_filter(stream, px_eventset_of(set));
	px_handle_unlock(trid);
	return 0;
}

/* Combine the current filter and the set as `how` requires.  Return false if `how` is invalid. */
static bool combine(struct px_eventset *filter, const struct px_eventset *set, int how)
{
	for (size_t i = 0; i < PX_EVENTSET_WORDS; i++) {
		switch (how) {
		case POSIX_TRACE_SET_EVENTSET:
			filter->bits[i] = set->bits[i];
			break;
		case POSIX_TRACE_ADD_EVENTSET:
			filter->bits[i] |= set->bits[i];
			break;
		case POSIX_TRACE_SUB_EVENTSET:
			filter->bits[i] &= ~set->bits[i];
			break;
		default:
			return false;
		}
	}
	return true;
}

PX_EXPORT_CALL int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct px_caller caller = {__builtin_return_address(0)};
	struct px_eventset filter;
	struct px_stream *stream;
	int error = 0;

	if (!set || !(stream = px_handle_lock(trid)))
		return EINVAL;
	px_stream_get_filter(stream, &filter);
	if (combine(&filter, px_eventset_to_read(set), how))
		px_stream_set_filter(stream, &filter, &caller);
	else
		error = EINVAL;
	px_handle_unlock(trid);
	return error;
}
