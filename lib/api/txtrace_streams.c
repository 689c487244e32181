/* SPDX-License-Identifier: MIT */
/*
 * Information about all streams of the user, about one stream of this process, and about a thread in that stream.
 */
#include "api/api.h"

#include <pthread.h>
#include <string.h>
#include <trace_ext.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "registry/stream_list.h"
#include "stream/snapshot.h"
#include "trace/process.h"

/* No stream of this registry has the same number again before its slot has had 2^32 streams. */
static unsigned long long id_of(uint32_t index, uint32_t generation)
{
	return (unsigned long long)generation << 32 | index;
}

static void describe(uint32_t index, const struct px_registry_slot *slot, const struct px_stream_list_entry *entry,
		     struct txtrace_stream *to)
{
	const struct px_registry_absent absent = px_registry_absent(index, slot->generation);

	*to = (struct txtrace_stream){
		.controller = (pid_t)slot->controller.pid,
		.target = (pid_t)slot->target.pid,
		.status = entry->is_running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED,
		.full = entry->is_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL,
		.inherited = slot->is_inherited ? POSIX_TRACE_INHERITED :
						  POSIX_TRACE_CLOSE_FOR_CHILD,
		.policy = (int)entry->policy,
		.log = slot->has_log != 0,
		.other_pids = slot->controller.pid_namespace != px_procfs_pid_namespace(),
		.created = px_clock_timespec(slot->create_ns),
		.nr_events = entry->nr_recorded,
		.nr_dropped = entry->nr_dropped,
		.id = id_of(index, slot->generation),
		.absent = (pid_t)absent.pid,
		.absent_error = (int)absent.error,
		.absent_others = absent.others,
	};
	memcpy(to->name, entry->name, sizeof(to->name));
}

static void list(struct txtrace_stream *list, unsigned int size, unsigned int *nr)
{
	unsigned int found = 0;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_registry_slot slot;
		struct px_stream_list_entry entry;

		if (!px_stream_list_read(i, &slot, &entry))
			continue;
		if (found < size) {
			describe(i, &slot, &entry, &list[found]);
			list[found].orphaned = px_registry_is_orphaned(i, &slot, false);
		}
		found++;
	}
	*nr = found;
}

PX_EXPORT int txtrace_list_streams(struct txtrace_stream *restrict streams, unsigned int size,
				   unsigned int *restrict nr)
{
	int saved_errno = errno;
	int error, state;

	if (!nr || (!streams && size > 0))
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error)
		list(streams, size, nr);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_get_stream(trace_id_t trid, struct txtrace_stream *info)
{
	struct px_stream_list_entry entry;
	struct px_stream *stream;
	int saved_errno = errno;

	if (!info || !(stream = px_handle_lock(trid)))
		return EINVAL;
	px_stream_list_describe(&stream->view, &entry);
	describe(stream->index, &stream->slot, &entry, info);
	px_handle_unlock(trid);
	errno = saved_errno;
	return 0;
}

/* The stream stays while the thread is away from the lock: px_handle_drain(). */
static int snapshot_of(trace_id_t trid, struct px_stream *stream, int fd)
{
	const struct px_timeline timeline = stream->reader.timeline;
	const struct px_namer namer = stream->logging.namer;
	const struct px_snapshot snapshot = {.view = &stream->view,
					     .attr = stream->attr,
					     .index = stream->index,
					     .slot = stream->slot,
					     .target_pid = stream->target.pid,
					     .timeline = &timeline,
					     .namer = namer.function ? &namer : NULL,
					     .fd = fd};
	int error;

	px_handle_leave(trid);
	error = px_snapshot_write(&snapshot);
	if (px_handle_return(trid))
		px_handle_unlock(trid);
	return error;
}

PX_EXPORT int txtrace_snapshot(trace_id_t trid, int fd)
{
	struct px_stream *stream;
	int saved_errno = errno;
	int error = EINVAL, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	stream = px_handle_lock(trid);
	if (stream)
		error = snapshot_of(trid, stream, fd);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_snapshot_stream(const struct txtrace_stream *info, int fd)
{
	int saved_errno = errno;
	int error, state;

	if (!info)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error)
		error = (uint32_t)info->id < PX_STREAMS_MAX ?
				px_snapshot_write_slot((uint32_t)info->id,
						       (uint32_t)(info->id >> 32), fd) :
				EINVAL;
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_get_thread(trace_id_t trid, unsigned int handle,
				 struct txtrace_object *object)
{
	struct px_stream *stream;
	struct px_object found;
	bool is_known;

	if (!object || !(stream = px_handle_lock(trid)))
		return EINVAL;
	is_known = px_threads_find(&stream->view.segment->threads, handle, &found);
	px_handle_unlock(trid);
	if (!is_known)
		return ENOENT;
	*object = (struct txtrace_object){.handle = found.handle,
					  .type = (int)found.type,
					  .priority = (int)found.priority,
					  .pid = (pid_t)found.pid,
					  .tid = (pid_t)found.tid};
	memcpy(object->name, found.name, sizeof(object->name));
	return 0;
}
