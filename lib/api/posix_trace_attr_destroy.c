/* SPDX-License-Identifier: MIT */
/* Attributes objects: init and destroy. */
#include "api/api.h"

PX_EXPORT int posix_trace_attr_destroy(trace_attr_t *attr)
{
	struct px_attr *old = px_attr_of(attr);

	if (!px_attr_is_valid(old))
		return EINVAL;
	px_attr_destroy(old);
	return 0;
}

/* INIT-6: an object that is already initialized gets the defaults again.  It owns nothing that could leak. */
PX_EXPORT int posix_trace_attr_init(trace_attr_t *attr)
{
	if (!attr)
		return EINVAL;
	px_attr_init(px_attr_of(attr));
	return 0;
}
