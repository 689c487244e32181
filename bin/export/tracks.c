/* SPDX-License-Identifier: MIT */
#include "export/tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"

#define FOREIGN_PID 1 /* ThreadX has no processes, but viewers need one */

/* what: a handle, or the pid of a process. */
static uint64_t key_of(enum track_kind kind, uint64_t what)
{
	return (uint64_t)kind << 60 ^ what;
}

static size_t place_of(const struct tracks *tracks, uint64_t key)
{
	return (size_t)((key * 0x9E3779B97F4A7C15ull) >> 20) & (tracks->nr_hash - 1);
}

static void grow_hash(struct tracks *tracks)
{
	struct track **old = tracks->hash;
	size_t nr_old = tracks->nr_hash;

	tracks->nr_hash = nr_old ? 2 * nr_old : 256;
	tracks->hash = must(calloc(tracks->nr_hash, sizeof(struct track *)));
	for (size_t i = 0; i < nr_old; i++) {
		for (struct track *at = old[i], *next; at; at = next) {
			size_t place = place_of(tracks, at->key);

			next = at->next;
			at->next = tracks->hash[place];
			tracks->hash[place] = at;
		}
	}
	free(old);
}

static struct track *find_track(const struct tracks *tracks, uint64_t key)
{
	struct track *track = tracks->hash[place_of(tracks, key)];

	while (track && track->key != key)
		track = track->next;
	return track;
}

/* Make a track, without calling tell(). */
static struct track *make_track(struct tracks *tracks, enum track_kind kind, uint64_t key)
{
	struct track *track = must(calloc(1, sizeof(*track)));
	size_t place;

	if (tracks->nr_tracks >= tracks->nr_hash)
		grow_hash(tracks);
	place = place_of(tracks, key);
	track->id = ++tracks->nr_tracks;
	track->kind = kind;
	track->key = key;
	track->last_ns = INT64_MIN;
	track->next = tracks->hash[place];
	tracks->hash[place] = track;
	if (tracks->last)
		tracks->last->behind = track;
	else
		tracks->first = track;
	tracks->last = track;
	return track;
}

/* A process has the name of its first thread. */
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
		const struct txtrace_object *object = &tracks->source->objects[i].is;

		if (object->type == OBJECT_THREAD && object->pid == pid && object->tid == pid)
			name = object->name;
	}
	snprintf(track->name, sizeof(track->name), "%s", name);
	tracks->tell(tracks->arg, track);
	return track;
}

static int pid_of(const struct tracks *tracks, int pid)
{
	return tracks->source->file.foreign || pid <= 0 ? FOREIGN_PID : pid;
}

struct track *track_of_thread(struct tracks *tracks, unsigned int handle, int event_pid)
{
	uint64_t key = key_of(TRACK_THREAD, handle);
	struct track *track;
	const struct source_object *object;

	if (handle == 0)
		return track_of_process(tracks, pid_of(tracks, event_pid));
	track = find_track(tracks, key);
	if (track)
		return track;
	object = source_object(tracks->source, handle);
	track = make_track(tracks, TRACK_THREAD, key);
	track->handle = handle;
	track->pid = pid_of(tracks, object && object->is.pid > 0 ? object->is.pid : event_pid);
	track->tid = object && object->is.tid > 0 ? object->is.tid : FOREIGN_PID + (int)track->id;
	track->process = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s",
		 source_context_name(tracks->source, handle));
	tracks->tell(tracks->arg, track);
	return track;
}

const char *tracks_object_name(const struct tracks *tracks, unsigned int handle)
{
	static char unknown[16];
	const struct source_object *object = source_object(tracks->source, handle);

	if (object)
		return object->is.name;
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
	track->process = track_of_process(tracks, track->pid);
	if (lane == 0)
		snprintf(track->name, sizeof(track->name), "held: %s",
			 tracks_object_name(tracks, handle));
	else
		snprintf(track->name, sizeof(track->name), "held: %.100s (%u)",
			 tracks_object_name(tracks, handle), lane + 1);
	tracks->tell(tracks->arg, track);
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
	track->process = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s %s", tracks_object_name(tracks, handle),
		 name);
	for (char *at = track->name; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	tracks->tell(tracks->arg, track);
	return track;
}

/* The only track of its kind. */
static struct track *only_track(struct tracks *tracks, enum track_kind kind, const char *name,
				int event_pid)
{
	uint64_t key = key_of(kind, 0);
	struct track *track = find_track(tracks, key);

	if (track)
		return track;
	track = make_track(tracks, kind, key);
	track->pid = pid_of(tracks, event_pid);
	track->process = track_of_process(tracks, track->pid);
	snprintf(track->name, sizeof(track->name), "%s", name);
	tracks->tell(tracks->arg, track);
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
		 void (*tell)(void *arg, const struct track *track), void *arg)
{
	*tracks = (struct tracks){.source = source, .tell = tell, .arg = arg};
	grow_hash(tracks);
}

void tracks_free(struct tracks *tracks)
{
	for (struct track *at = tracks->first, *next; at; at = next) {
		next = at->behind;
		free(at);
	}
	free(tracks->hash);
}
