/* SPDX-License-Identifier: MIT */
/* The behaviour of a stream: inheritance, full policies. */
#include "api/api.h"

PX_EXPORT int posix_trace_attr_getinherited(const trace_attr_t *restrict attr,
					    int *restrict inheritancepolicy)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !inheritancepolicy)
		return EINVAL;
	*inheritancepolicy = from->inherited ? POSIX_TRACE_INHERITED : POSIX_TRACE_CLOSE_FOR_CHILD;
	return 0;
}

PX_EXPORT int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to))
		return EINVAL;
	if (inheritancepolicy != POSIX_TRACE_CLOSE_FOR_CHILD &&
	    inheritancepolicy != POSIX_TRACE_INHERITED)
		return EINVAL;
	to->inherited = inheritancepolicy == POSIX_TRACE_INHERITED;
	return 0;
}

PX_EXPORT int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict attr,
						   int *restrict streampolicy)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !streampolicy)
		return EINVAL;
	/*
	 * GETSFP-3: if the policy is not set, report LOOP.  The function that creates the stream chooses the policy
	 * later.
	 */
	if (from->stream_policy == PX_POLICY_DEFAULT)
		*streampolicy = POSIX_TRACE_LOOP;
	else
		*streampolicy = (int)from->stream_policy;
	return 0;
}

/* SETSFP-4: accept FLUSH here.  posix_trace_create() refuses it, because its stream has no log. */
PX_EXPORT int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to))
		return EINVAL;
	if (streampolicy != POSIX_TRACE_LOOP && streampolicy != POSIX_TRACE_UNTIL_FULL &&
	    streampolicy != POSIX_TRACE_FLUSH)
		return EINVAL;
	to->stream_policy = (uint32_t)streampolicy;
	return 0;
}

PX_EXPORT int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict attr,
						int *restrict logpolicy)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !logpolicy)
		return EINVAL;
	*logpolicy = (int)from->log_policy;
	return 0;
}

PX_EXPORT int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to))
		return EINVAL;
	if (logpolicy != POSIX_TRACE_LOOP && logpolicy != POSIX_TRACE_UNTIL_FULL &&
	    logpolicy != POSIX_TRACE_APPEND)
		return EINVAL;
	to->log_policy = (uint32_t)logpolicy;
	return 0;
}
