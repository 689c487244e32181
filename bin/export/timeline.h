/* SPDX-License-Identifier: MIT */
/*
 * From events to what a viewer of tracks shows: tracks, slices, counters and arrows.
 *
 *	thread		each event as an instant; a slice for each wait, with the name of the object
 *	interrupt	a slice from ISR_ENTER to ISR_EXIT
 *	lock		a slice for each hold, with the name of the holder; a track for each holder at a time
 *	counter		what the events tell of a queue, a semaphore or a pool
 *	events lost	a slice from OVERFLOW to RESUME
 *	CPU		of a ThreadX buffer: a slice for each time that a thread, or an interrupt, runs, by its name
 *
 * Waits and holds come from the model of waits/waits.h, which gets the events that are exported.
 *
 * A flow links a wait for a lock, the slice of the holder, and the slice of the waiter when it has the lock.
 *
 * What is promised to the exporter: slices of a track never overlap unless one is within the other; times of a track
 * never fall; every slice is ended; a track is told before anything on it.  The memory used depends on the number of
 * threads and objects, not on that of events.
 */
#ifndef TXTRACE_EXPORT_TIMELINE_H
#define TXTRACE_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "export/tracks.h"
#include "trace/filter.h"

enum mark_kind { MARK_BEGIN, MARK_END, MARK_INSTANT, MARK_COUNTER };

struct mark {
	enum mark_kind kind;
	const struct track *track;
	int64_t time_ns;
	const char *name;	   /* not of MARK_END, MARK_COUNTER */
	const struct event *event; /* whose data belong to it, or NULL */
	const char *holder;	   /* of what is waited for, or NULL */
	uint64_t flow;		   /* passes here; 0: none does */
	bool flow_ends;
	int64_t value;	 /* of MARK_COUNTER */
	bool after_loss; /* events are missing before this one */
};

struct timeline;

/* told is handed to both.  A mark, and the texts in it, are valid during the call. */
struct timeline *timeline_begin(struct source *source, const struct selection *selection,
				void (*track)(void *arg, const struct track *track),
				void (*mark)(void *arg, const struct mark *mark), void *arg);
void timeline_event(struct timeline *timeline, const struct event *event);

/* Ends all slices, unless the work was broken off.  Reads the source again to find out who ran. */
void timeline_end(struct timeline *timeline, bool is_complete);

#endif
