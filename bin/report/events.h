/* SPDX-License-Identifier: MIT */
/*
 * The events of a file, with what the rules of the reports need of each event.
 *
 * All events of the file are read, because all of them are needed to find out which thread runs when. An event counts
 * if the filter and the range take it.
 */
#ifndef TXTRACE_REPORT_EVENTS_H
#define TXTRACE_REPORT_EVENTS_H

#include "report/contexts.h"
#include "trace/filter.h"
#include "trace/native.h"
#include "waits/waits.h"

struct report_event {
	int64_t at;	 /* since the first event: ticks of a ThreadX buffer, ns of a log */
	uint64_t number; /* of the event in the file */
	struct context *ctx;
	unsigned int context;
	unsigned int next;	  /* context that runs after the event; profile.c */
	unsigned int interrupted; /* in an interrupt: the thread, or 0 */
	unsigned int native;	  /* ThreadX's id, or 0 */
	trace_event_id_t type;
	int priority; /* -1: unknown */
	unsigned int cpu;
	pid_t pid;
	uint32_t word[4];
	/* Of a mutex, in the model of waits.h; only if report_events_track_mutexes() was called. */
	unsigned int owner; /* context of another thread that holds the wanted mutex, or 0 */
	unsigned int given; /* the mutex that the thread gives back, or 0 */
	bool passes;  /* the filter */
	bool counts;  /* the filter and the range take this event */
	bool is_made; /* synthesized, not in the file: profile.c, calls.h */
	bool is_over; /* end of a call that waited; reports count its start */
};

struct report_events {
	struct source *source;
	const struct selection *selection;
	struct contexts *contexts;
	int64_t from, to;	  /* as times of events */
	int64_t begin, end, last; /* in the unit of at: the range, and the latest event */
	uint64_t nr_read;

	/* report_events_track_mutexes(): source is NULL otherwise. */
	struct waits waits;
	struct waits_listener listener;
	unsigned int given; /* by the current event */
};

void report_events_init(struct report_events *events, struct source *source,
			struct contexts *contexts, const struct selection *selection);

void report_events_free(struct report_events *events);

/* From now on, set owner and given in each event.  Call it again after source_rewind(). */
void report_events_track_mutexes(struct report_events *events);

/* Read the next event.  Return false after the last event. */
bool report_events_next(struct report_events *events, struct report_event *event);

/* Return how much of a period is in the range. */
int64_t report_events_clip(const struct report_events *events, int64_t from, int64_t to);

/* Return the time from the first event to the latest event that was read, as far as it is in the range. */
int64_t report_events_duration(const struct report_events *events);

/* Convert a time `at` to nanoseconds. */
int64_t report_events_ns(const struct report_events *events, int64_t at);

#endif
