/* SPDX-License-Identifier: MIT */
/*
 * This module converts events to the tracks, slices, counters and arrows of a viewer.
 *
 * 	thread		each event as an instant; a slice for each wait, with the name of the object
 * 	interrupt	a slice from ISR_ENTER to ISR_EXIT
 * 	lock		a slice for each hold, with the name of the holder; a track for each concurrent holder
 * 	counter		messages in a queue, the value of a semaphore, or free blocks in a pool
 * 	events lost	a slice from OVERFLOW to RESUME
 * 	CPU		of a ThreadX buffer: a slice for each run of a thread or an interrupt, with its name
 * 	states		of a thread of a log with scheduling records: a slice for each time running, ready or blocked.
 *			No slice means that the records do not show what the thread did.  The filter has no effect on
 *			them.
 *	span		a slice for each span of the options and of the program; a track for each one at the same time.
 *			A span of which the end is missing has no slice
 *
 * Waits and holds come from the model of waits/waits.h, which gets the events that are exported.
 *
 * A flow links a wait for a lock, the slice of the holder, and the slice of the waiter when it has the lock.
 *
 * The exporter can rely on these rules: Slices of a track do not overlap unless one is within the other.  Times of a
 * track never fall.  Every slice ends.  track() is called before the first mark on the track.  Memory use depends on
 * the number of threads, objects and spans, not on the number of events.
 */
#ifndef TXTRACE_EXPORT_TIMELINE_H
#define TXTRACE_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "export/tracks.h"
#include "report/spans.h"
#include "trace/selection.h"
#include "waits/state_periods.h"
#include "waits/wait_class.h"

enum mark_kind { MARK_BEGIN, MARK_END, MARK_INSTANT, MARK_COUNTER };

struct mark {
	enum mark_kind kind;
	const struct track *track;
	int64_t time_ns;
	const char *name;	   /* the name is not set in MARK_END and MARK_COUNTER */
	const struct event *event; /* the event that the mark shows, or NULL */
	unsigned int waker;	   /* in the MARK_END of a wait, handle of the thread that ended it, or 0 */
	const char *holder;	   /* name of the holder of the awaited object, or NULL */
	enum wait_class wait_class; /* in the MARK_BEGIN of a wait */
	const struct state_period *period; /* what the slice of a track with states shows, or NULL */
	uint64_t flow;		   /* number of the flow through this mark, or 0 if there is none */
	bool flow_ends;
	int64_t value;	 /* set only in MARK_COUNTER */
	bool after_loss; /* events are missing before this mark */
};

struct timeline;

/*
 * spans: those of the options.  The timeline calls track() for each new track, and mark() for each mark.  It passes arg
 * to both.  A mark and its texts are valid during the call.
 */
struct timeline *timeline_begin(struct source *source, const struct selection *selection, const struct spans *spans,
				void (*track)(void *arg, const struct track *track),
				void (*mark)(void *arg, const struct mark *mark), void *arg);
void timeline_event(struct timeline *timeline, const struct event *event);

/*
 * If is_complete is true, end all slices.  Also read the source again: a ThreadX buffer to find the CPU slices, and a
 * log with scheduling records to find the states. Then free the timeline.
 */
void timeline_end(struct timeline *timeline, bool is_complete);

#endif
