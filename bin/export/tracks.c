/* SPDX-License-Identifier: MIT */
#include "export/tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"

#define FIRST_ROOM 256
#define FOREIGN_PID 1 /* ThreadX has no processes, but viewers need one */

/* Return the key of a track.  `what` is a handle, or the pid of a process. */
static uint64_t key_of(enum track_kind kind, uint64_t what)
{
	return (uint64_t)kind << 60 ^ what;
}

static struct track *find_track(const struct tracks *tracks, uint64_t key)
{
	uint64_t id = map_find(&tracks->by_key, key);

	return id > 0 ? tracks->track[id - 1] : NULL;
}

/* Make a track, but do not call created(). */
static struct track *make_track(struct tracks *tracks, enum track_kind kind, uint64_t key)
{
	struct track *track = must(calloc(1, sizeof(*track)));

	if (tracks->nr_tracks == tracks->room) {
		tracks->room = tracks->room ? 2 * tracks->room : FIRST_ROOM;
		tracks->track =
			must(reallocarray(tracks->track, tracks->room, sizeof(struct track *)));
	}
	tracks->track[tracks->nr_tracks++] = track;
	track->id = tracks->nr_tracks;
	track->kind = kind;
	track->last_ns = INT64_MIN;
	*map_get(&tracks->by_key, key) = track->id;
	return track;
}

/* A process has the name of its main thread. */
static struct track *track_of_process(struct tracks *tracks, int pid)
{
	uint64_t key = key_of(TRACK_PROCESS, (uint32_t)pid);
	struct track *track = find_track(tracks, key);
	const char *name = name_of(tracks->source->path);

	if (track)
		return track;
	track = make_track(tracks, TRACK_PROCESS, key);
	track->pid = pid;
	for (size_t i = 0; pid != FOREIGN_PID && i < tracks->source->nr_objects; i++) {
		const struct txtrace_object *object = &tracks->source->objects[i];

		if (object->type == OBJECT_THREAD && object->pid == pid && object->tid == pid)
			name = object->name;
	}
	snprintf(track->name, sizeof(track->name), "%s", name);
	tracks->created(tracks->arg, track);
	return track;
}

static int pid_of(const struct tracks *tracks, int pid)
{
	if (tracks->source->file.foreign || pid <= 0)
		return FOREIGN_PID;
	return event_has_process(pid) ? pid : pid + FOREIGN_PID;
}

struct track *track_of_thread(struct tracks *tracks, unsigned int handle, int event_pid)
{
	uint64_t key = key_of(TRACK_THREAD, handle);
	struct track *track;
	const struct txtrace_object *object;

	if (handle == 0)
		return track_of_process(tracks, pid_of(tracks, event_pid));
	track = find_track(tracks, key);
	if (track)
		return track;
	object = source_object(tracks->source, handle);
	track = make_track(tracks, TRACK_THREAD, key);
	track->handle = handle;
	track->pid = pid_of(tracks, object && object->pid > 0 ? object->pid : event_pid);
	track->tid = object && object->tid > 0 ? object->tid : FOREIGN_PID + (int)track->id;
	track->parent = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s",
		 source_context_name(tracks->source, handle));
	tracks->created(tracks->arg, track);
	return track;
}

const char *tracks_object_name(const struct tracks *tracks, unsigned int handle)
{
	static char unknown[16];
	const struct txtrace_object *object = source_object(tracks->source, handle);

	if (object)
		return object->name;
	snprintf(unknown, sizeof(unknown), "%08x", handle);
	return unknown;
}

static uint64_t key_of_lane(unsigned int handle, unsigned int lane)
{
	return key_of(TRACK_LOCK, (uint64_t)lane << 32 | handle);
}

struct track *tracks_find_lock(const struct tracks *tracks, unsigned int handle, unsigned int lane)
{
	return find_track(tracks, key_of_lane(handle, lane));
}

struct track *track_of_lock(struct tracks *tracks, unsigned int handle, unsigned int lane,
			    int event_pid)
{
	struct track *track = tracks_find_lock(tracks, handle, lane);

	if (track)
		return track;
	track = make_track(tracks, TRACK_LOCK, key_of_lane(handle, lane));
	track->handle = handle;
	track->pid = pid_of(tracks, event_pid);
	track->parent = track_of_process(tracks, track->pid);
	if (lane == 0)
		snprintf(track->name, sizeof(track->name), "held: %s",
			 tracks_object_name(tracks, handle));
	else
		snprintf(track->name, sizeof(track->name), "held: %.100s (%u)",
			 tracks_object_name(tracks, handle), lane + 1);
	tracks->created(tracks->arg, track);
	return track;
}

struct track *track_of_counter(struct tracks *tracks, unsigned int handle, unsigned char measure,
			       const char *name, int event_pid)
{
	uint64_t key = key_of(TRACK_COUNTER, (uint64_t)measure << 32 | handle);
	struct track *track = find_track(tracks, key);

	if (track)
		return track;
	track = make_track(tracks, TRACK_COUNTER, key);
	track->pid = pid_of(tracks, event_pid);
	track->parent = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s %s", tracks_object_name(tracks, handle),
		 name);
	for (char *at = track->name; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	tracks->created(tracks->arg, track);
	return track;
}

/* Return the track of this kind.  There is only one. */
static struct track *only_track(struct tracks *tracks, enum track_kind kind, const char *name,
				int event_pid)
{
	uint64_t key = key_of(kind, 0);
	struct track *track = find_track(tracks, key);

	if (track)
		return track;
	track = make_track(tracks, kind, key);
	track->pid = pid_of(tracks, event_pid);
	track->parent = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s", name);
	tracks->created(tracks->arg, track);
	return track;
}

struct track *track_of_states(struct tracks *tracks, unsigned int handle, size_t number, int pid, int tid,
			      const char *name)
{
	uint64_t key = key_of(TRACK_STATES, handle ? handle : UINT64_C(1) << 32 | number);
	struct track *track = find_track(tracks, key);

	if (track)
		return track;
	track = make_track(tracks, TRACK_STATES, key);
	track->handle = handle;
	track->pid = pid_of(tracks, pid);
	track->tid = tid;
	track->parent = handle ? track_of_thread(tracks, handle, pid) : track_of_process(tracks, track->pid);
	if (handle || *name)
		snprintf(track->name, sizeof(track->name), "%.100s: states",
			 handle ? source_context_name(tracks->source, handle) : name);
	else
		snprintf(track->name, sizeof(track->name), "tid %d: states", tid);
	tracks->created(tracks->arg, track);
	return track;
}

struct track *track_of_span(struct tracks *tracks, unsigned int span, unsigned int lane, int pid, const char *name)
{
	uint64_t key = key_of(TRACK_SPAN, (uint64_t)lane << 32 | span);
	struct track *track = find_track(tracks, key);

	if (track)
		return track;
	track = make_track(tracks, TRACK_SPAN, key);
	track->handle = span;
	track->pid = pid_of(tracks, pid);
	track->parent = track_of_process(tracks, track->pid);
	if (lane == 0)
		snprintf(track->name, sizeof(track->name), "span: %.100s", name);
	else
		snprintf(track->name, sizeof(track->name), "span: %.100s (%u)", name, lane + 1);
	tracks->created(tracks->arg, track);
	return track;
}

struct track *track_of_loss(struct tracks *tracks, int event_pid)
{
	return only_track(tracks, TRACK_LOSS, "events lost", event_pid);
}

struct track *track_of_cpu(struct tracks *tracks)
{
	return only_track(tracks, TRACK_CPU, "CPU", FOREIGN_PID);
}

void tracks_init(struct tracks *tracks, struct source *source,
		 void (*created)(void *arg, const struct track *track), void *arg)
{
	*tracks = (struct tracks){.source = source, .created = created, .arg = arg};
}

void tracks_free(struct tracks *tracks)
{
	for (size_t i = 0; i < tracks->nr_tracks; i++)
		free(tracks->track[i]);
	free(tracks->track);
	map_free(&tracks->by_key);
}
