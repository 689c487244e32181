/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/archive.h"
#include "ring/image.h"
#include "stream/own_rings.h"

PX_EXPORT int txtrace_attr_setrings(trace_attr_t *attr, unsigned int nr_rings)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || nr_rings > PX_RINGS_MAX)
		return EINVAL;
	px_attr_of(attr)->nr_rings = (uint16_t)nr_rings;
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

PX_EXPORT int txtrace_attr_setsched(trace_attr_t *attr, int sched)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || (sched != 0 && sched != 1))
		return EINVAL;
	px_attr_of(attr)->sched = sched == 1;
	return 0;
}

PX_EXPORT int txtrace_attr_getsched(const trace_attr_t *restrict attr, int *restrict sched)
{
	if (!px_attr_is_valid(px_attr_to_read(attr)) || !sched)
		return EINVAL;
	*sched = (int)px_attr_to_read(attr)->sched;
	return 0;
}

PX_EXPORT int txtrace_get_sched_error(trace_id_t trid, int *error)
{
	struct px_stream *stream;

	if (!error || !(stream = px_handle_lock(trid)))
		return EINVAL;
	*error = stream->logging.sched_error;
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT int txtrace_check_rings(int *obstacle)
{
	int saved_errno = errno, state;

	if (!obstacle)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	*obstacle = px_own_rings_obstacle(px_clock_best().source);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return 0;
}

PX_EXPORT int txtrace_check_sched(pid_t pid, int *error)
{
	int saved_errno = errno, state;
	struct px_sched *sched = NULL;

	if (pid < 0 || !error)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	*error = px_sched_open((uint32_t)(pid ? pid : getpid()), false, &sched);
	px_sched_close(sched);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return 0;
}

_Static_assert(sizeof(struct px_sched_thread) == sizeof(struct txtrace_sched), "scheduling records");
_Static_assert(offsetof(struct px_sched_thread, name) == offsetof(struct txtrace_sched, name), "name");
_Static_assert(PX_SCHED_SWITCH_BYTES == TXTRACE_SCHED_SWITCH_BYTES, "bytes of a switch");
_Static_assert(sizeof(struct px_sched_gap) == sizeof(struct txtrace_sched_gap), "gaps");
_Static_assert((int)PX_SCHED_RUNNABLE == (int)TXTRACE_RUNNABLE, "states");
_Static_assert((int)PX_SCHED_CPUS == (int)TXTRACE_SCHED_CPUS, "ends");

PX_EXPORT int txtrace_attr_setstacks(trace_attr_t *attr, int bound_us)
{
	if (!px_attr_is_valid(px_attr_of(attr)) || bound_us < TXTRACE_STACKS_ALL || bound_us > PX_STACKS_BOUND_MAX_US)
		return EINVAL;
	px_attr_of(attr)->stacks = (uint16_t)(bound_us == TXTRACE_STACKS_NONE ? PX_STACKS_NONE :
					      bound_us == TXTRACE_STACKS_ALL  ? PX_STACKS_ALL :
										1 + bound_us);
	return 0;
}

PX_EXPORT int txtrace_attr_getstacks(const trace_attr_t *restrict attr, int *restrict bound_us)
{
	const struct px_attr *from = px_attr_to_read(attr);

	if (!px_attr_is_valid(from) || !bound_us)
		return EINVAL;
	*bound_us = from->stacks == PX_STACKS_NONE ? TXTRACE_STACKS_NONE :
		    from->stacks == PX_STACKS_ALL  ? TXTRACE_STACKS_ALL :
						     from->stacks - 1;
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
