/* SPDX-License-Identifier: MIT */
/*
 * The events of a file, each with the data that the rules of the reports need.
 *
 * This module reads all events of the file, because it needs all of them to find out which thread runs when.  An event
 * counts if the filter and the range take it.
 */
#ifndef TXTRACE_REPORT_EVENTS_H
#define TXTRACE_REPORT_EVENTS_H

#include "report/contexts.h"
#include "trace/native.h"
#include "trace/sched.h"
#include "trace/selection.h"
#include "waits/waits.h"

struct states;

struct report_event {
	int64_t at;	 /* time since the first event, in ticks for a ThreadX buffer and in ns for a log */
	uint64_t number; /* number of the event in the file */
	struct context *ctx;
	unsigned int context;
	unsigned int next;	  /* the context that runs after the event; profile.c sets it */
	unsigned int interrupted; /* in an interrupt, the interrupted thread; otherwise 0 */
	unsigned int native;	  /* ThreadX's id of the event, or 0 */
	enum sched_kind sched;	  /* SCHED_NONE if the event is not a scheduling record */
	bool is_ready;		  /* SCHED_OUT: the thread still wants to run */
	trace_event_id_t type;
	trace_event_id_t service; /* the type of the call, also if it was counted */
	struct context *caller;	  /* the thread that made the call */
	uint64_t nr_calls;	  /* for how many calls the event counts */
	int priority; /* -1 means unknown */
	unsigned int cpu;
	pid_t pid;
	uint32_t word[4];
	/* Data about a mutex, from the model of waits.h; set only after report_events_track_mutexes(). */
	unsigned int owner; /* context of another thread that holds the wanted mutex, or 0 */
	unsigned int given; /* the mutex that the thread gives back, or 0 */
	bool passes;  /* the event passes the filter */
	bool counts;  /* the event passes the filter and is in the range */
	bool is_made; /* profile.c or calls_next() has synthesized the event; it is not in the file */
	bool is_over; /* the event ends a call that waited; reports count the call at its start */
};

struct report_events {
	struct source *source;
	const struct selection *selection;
	struct contexts *contexts;
	int64_t from, to;	  /* the range, in the same clock as the times of events */
	int64_t begin, end, last; /* the range and the latest event, in the unit of `at` */
	uint64_t nr_read;
	struct event raw; /* the event that was read last */

	/* The model is used only after report_events_track_mutexes().  Before that, waits.source is NULL. */
	struct waits waits;
	struct waits_listener listener;
	struct states *states; /* states.h; NULL: not wanted */
	unsigned int given; /* the mutex that the current event gives back */
};

void report_events_init(struct report_events *events, struct source *source,
			struct contexts *contexts, const struct selection *selection);

void report_events_free(struct report_events *events);

/* From now on, set owner and given in each event.  Call it again after source_rewind(). */
void report_events_track_mutexes(struct report_events *events);

/* Read the next event.  Return false after the last event. */
bool report_events_next(struct report_events *events, struct report_event *event);

/* Return the length of the part of a period that is in the range. */
int64_t report_events_clip(const struct report_events *events, int64_t from, int64_t to);

/* Return the time from the first event to the latest event that was read.  Time outside of the range does not count. */
int64_t report_events_duration(const struct report_events *events);

/* Convert a time `at` to nanoseconds. */
int64_t report_events_ns(const struct report_events *events, int64_t at);

#endif
