/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a timeline.  Processes, threads, locks, counters and spans have tracks.  A track is created when it is
 * first needed.
 */
#ifndef TXTRACE_EXPORT_TRACKS_H
#define TXTRACE_EXPORT_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

enum track_kind {
	TRACK_PROCESS,
	TRACK_THREAD,
	TRACK_LOCK,
	TRACK_COUNTER,
	TRACK_LOSS,
	TRACK_CPU,
	TRACK_STATES,
	TRACK_SPAN
};

#define TRACK_NAME_BYTES 128

struct hold;

struct track {
	uint64_t id; /* the ids begin at 1 */
	enum track_kind kind;
	/*
	 * The track of the process, or for the states of a thread that of the thread.  NULL for the track of a process.
	 */
	const struct track *parent;
	int pid, tid;		     /* only threads have a tid */
	char name[TRACK_NAME_BYTES];

	/* timeline.c uses these members. */
	int64_t last_ns;
	unsigned int depth;   /* number of open slices */
	unsigned int handle;	  /* handle of the thread or the lock; for a CPU, handle of the running thread */
	const struct hold *hold; /* for a lock, the hold of the open slice, or NULL if no slice is open */
	uint64_t flow;		  /* for a wait, the number of its flow */
	bool has_value;
	uint32_t value; /* for a counter, the last value */
};

struct tracks {
	struct source *source;
	/*
	 * The module calls this for each new track.  It calls this for the track of a process before it calls this for
	 * other tracks of the process.
	 */
	void (*created)(void *arg, const struct track *track);
	void *arg;
	struct track **track; /* the tracks in the order of their creation */
	size_t nr_tracks, room;
	struct map by_key; /* the values are ids of tracks */
};

void tracks_init(struct tracks *tracks, struct source *source,
		 void (*created)(void *arg, const struct track *track), void *arg);
void tracks_free(struct tracks *tracks);

/*
 * Return the track of the thread with this handle. event_pid is the process of the event that names the thread. If the
 * handle is 0, there is no thread.  Then return the track of the process.
 */
struct track *track_of_thread(struct tracks *tracks, unsigned int handle, int event_pid);

/*
 * Slices of a track must not overlap, so a lock with several holders at a time needs several tracks (lanes).  `lane` is
 * the number of the track, from 0 on.
 */
struct track *track_of_lock(struct tracks *tracks, unsigned int handle, unsigned int lane,
			    int event_pid);

/* Do the same as track_of_lock(), but return NULL if the track was not made yet. */
struct track *tracks_find_lock(const struct tracks *tracks, unsigned int handle, unsigned int lane);

/* An object may have several counters.  `measure` is the number of the counter, and `name` its name. */
struct track *track_of_counter(struct tracks *tracks, unsigned int handle, unsigned char measure,
			       const char *name, int event_pid);
struct track *track_of_loss(struct tracks *tracks, int event_pid);
struct track *track_of_cpu(struct tracks *tracks);

/*
 * The track with the states of a thread.  `number` is the number of the thread in the model; threads without a handle
 * are told apart by it.
 */
struct track *track_of_states(struct tracks *tracks, unsigned int handle, size_t number, int pid, int tid,
			      const char *name);

/* A span may overlap with others of the same name, so it may need several tracks, as a lock does. */
struct track *track_of_span(struct tracks *tracks, unsigned int span, unsigned int lane, int pid, const char *name);

/* The name is valid until the next call. */
const char *tracks_object_name(const struct tracks *tracks, unsigned int handle);

#endif
