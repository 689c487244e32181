/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "log/archive.h"
#include "ring/image.h"

PX_EXPORT int txtrace_attr_setrings(trace_attr_t *attr, unsigned int nr_rings)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || nr_rings > PX_RINGS_MAX)
		return EINVAL;
	px_attr_of(attr)->nr_rings = nr_rings;
	return 0;
}

PX_EXPORT int txtrace_attr_getrings(const trace_attr_t *restrict attr,
				    unsigned int *restrict nr_rings)
{
	if (!px_attr_is_valid(px_attr_to_read(attr)) || !nr_rings)
		return EINVAL;
	*nr_rings = px_attr_to_read(attr)->nr_rings;
	return 0;
}

PX_EXPORT int txtrace_attr_setgrowth(trace_attr_t *attr, int grows)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || (grows != 0 && grows != 1))
		return EINVAL;
	px_attr_of(attr)->grows = grows == 1;
	return 0;
}

PX_EXPORT int txtrace_attr_getgrowth(const trace_attr_t *restrict attr, int *restrict grows)
{
	if (!px_attr_is_valid(px_attr_to_read(attr)) || !grows)
		return EINVAL;
	*grows = (int)px_attr_to_read(attr)->grows;
	return 0;
}

PX_EXPORT int txtrace_attr_setaggregation(trace_attr_t *attr, int aggregates)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || (aggregates != 0 && aggregates != 1))
		return EINVAL;
	px_attr_of(attr)->aggregates = aggregates == 1;
	return 0;
}

PX_EXPORT int txtrace_attr_getaggregation(const trace_attr_t *restrict attr, int *restrict aggregates)
{
	if (!px_attr_is_valid(px_attr_to_read(attr)) || !aggregates)
		return EINVAL;
	*aggregates = (int)px_attr_to_read(attr)->aggregates;
	return 0;
}

PX_EXPORT int txtrace_get_loss(trace_id_t trid, struct txtrace_loss *loss)
{
	struct px_handle handle;
	struct px_loss lost;

	if (!loss || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	if (handle.stream)
		px_stream_loss(handle.stream, &lost);
	else
		lost = handle.archive->loss;
	px_handle_unlock(trid);
	*loss = (struct txtrace_loss){.overwritten = lost.overwritten,
				      .dropped = lost.dropped,
				      .abandoned = lost.abandoned};
	return 0;
}

PX_EXPORT int txtrace_copy_ring(trace_id_t trid, unsigned int ring, void *buffer, size_t size,
				size_t *length, double *tick_ns)
{
	struct px_stream *stream;
	struct px_image image;
	int saved_errno = errno;
	int error;

	if (!length || !tick_ns || (!buffer && size > 0) || !(stream = px_handle_lock(trid)))
		return EINVAL;
	error = ring < stream->view.rings.nr_rings ?
			px_image_copy(&stream->view, ring,
				      px_timeline_scale(&stream->reader.timeline), &image) :
			EINVAL;
	px_handle_unlock(trid);
	errno = saved_errno;
	if (error)
		return error;
	*length = image.size;
	*tick_ns = image.tick_ns;
	if (image.size > size)
		error = ENOSPC;
	else
		memcpy(buffer, image.bytes, image.size);
	free(image.bytes);
	return error;
}
