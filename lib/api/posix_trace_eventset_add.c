/* SPDX-License-Identifier: MIT */
/*
 * Sets of event types.  A set can contain any possible id, even if no event type has this id (SETADD-3).  So a full set
 * also covers event types that are opened later (AMB-13).
 */
#include "api/api.h"

#include <string.h>

static bool is_event(trace_event_id_t event_id)
{
	return event_id != PX_EVENT_NONE && event_id < PX_EVENT_IDS;
}

PX_EXPORT int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!set || !is_event(event_id))
		return EINVAL;
	px_eventset_add(px_eventset_of(set), event_id);
	return 0;
}

PX_EXPORT int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!set || !is_event(event_id))
		return EINVAL;
	px_eventset_del(px_eventset_of(set), event_id);
	return 0;
}

PX_EXPORT int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!set)
		return EINVAL;
	memset(set, 0, sizeof(*set));
	return 0;
}

PX_EXPORT int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	struct px_eventset *filled = px_eventset_of(set);

	if (!set)
		return EINVAL;
	switch (what) {
	case POSIX_TRACE_WOPID_EVENTS:
		/* AMB-12: this set is empty, because this library adds no process-independent event types. */
		memset(filled, 0, sizeof(*filled));
		return 0;
	case POSIX_TRACE_SYSTEM_EVENTS:
		memset(filled, 0, sizeof(*filled));
		for (unsigned int id = PX_EVENT_ERROR; id <= PX_EVENT_SYSTEM_LAST; id++)
			px_eventset_add(filled, id);
		return 0;
	case POSIX_TRACE_ALL_EVENTS:
		memset(filled, 0xff, sizeof(*filled));
		px_eventset_del(filled, PX_EVENT_NONE);
		return 0;
	default:
		return EINVAL;
	}
}

PX_EXPORT int posix_trace_eventset_ismember(trace_event_id_t event_id,
					    const trace_event_set_t *restrict set,
					    int *restrict ismember)
{
	if (!set || !ismember || !is_event(event_id))
		return EINVAL;
	*ismember = px_eventset_has(px_eventset_to_read(set), event_id);
	return 0;
}
