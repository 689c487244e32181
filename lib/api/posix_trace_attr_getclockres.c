/* SPDX-License-Identifier: MIT */
/* The identity of a stream: clock resolution, creation time, version, name. */
#include "api/api.h"

#include <string.h>

PX_EXPORT int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !resolution)
		return EINVAL;
	*resolution = px_attr_timespec(&from->clock_resolution);
	return 0;
}

PX_EXPORT int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !createtime)
		return EINVAL;
	*createtime = px_attr_timespec(&from->create_time);
	return 0;
}

/*
 * AMB-10: the caller's buffer has TRACE_NAME_MAX bytes, including the null byte.  The attributes object is in the
 * caller's memory, so the text in it may have no null byte.
 */
static void copy_text(const char *text, char *to)
{
	size_t length = strnlen(text, TRACE_NAME_MAX - 1);

	memcpy(to, text, length);
	to[length] = '\0';
}

PX_EXPORT int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !genversion)
		return EINVAL;
	copy_text(from->version, genversion);
	return 0;
}

PX_EXPORT int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !tracename)
		return EINVAL;
	copy_text(from->name, tracename);
	return 0;
}

PX_EXPORT int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
	struct px_attr *to = px_attr_of(attr);

	if (!px_attr_is_valid(to) || !tracename)
		return EINVAL;
	px_attr_set_name(to, tracename);
	return 0;
}
