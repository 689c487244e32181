/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace as events of the Common Trace Format: their classes, and their fields.  This file needs
 * Babeltrace 2.
 */
#ifndef TXTRACE_EXPORT_CTF_EVENTS_H
#define TXTRACE_EXPORT_CTF_EVENTS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "report/spans.h"
#include "trace/source.h"

/*
 * The payload has a shape: the fields of a call or of a scheduling record, ThreadX's words, the fields of a described
 * type, the names of the types in filters, or an array of bytes.  Events of one type can have different shapes.  For
 * example, a call that begins to wait has no result yet.  So each shape has its own class.
 */
enum ctf_shape_kind { SHAPE_BYTES, SHAPE_WORDS, SHAPE_CALL, SHAPE_SCHED, SHAPE_FIELDS, SHAPE_FILTERS };

struct ctf_shape {
	enum ctf_shape_kind kind;
	unsigned int native; /* SHAPE_WORDS */
	int phase;	     /* SHAPE_CALL; SHAPE_SCHED: enum sched_kind; SHAPE_FILTERS: how many */
	size_t nr_fields;    /* SHAPE_CALL, without CALLDATA_WAIT; SHAPE_FIELDS: 1 if there are more data than fields */
};

struct ctf_events {
	struct source *source;
	bool has_hosts; /* more than one: the context of each event has the name of its host */
	bt_trace_class *trace_class;
	bt_stream_class *stream_class;
	bt_trace *trace;
	bt_stream *stream;
	struct map class_of; /* value: 1 + index in classes[] */
	bt_event_class **classes;
	size_t nr_classes;
	bt_event_class *span_class; /* NULL until there is a span */
};

/* Exit if a function of Babeltrace failed.  In these files, the cause is always a lack of memory. */
void ctf_must_be_zero(int status);

/* Make the classes that all events share, the trace and its stream. */
void ctf_events_begin(struct ctf_events *events, struct source *source, bt_self_component *component);
/* Release the objects of Babeltrace.  Do not call this after a failed graph: Babeltrace still uses the objects. */
void ctf_events_put_refs(struct ctf_events *events);
void ctf_events_free(struct ctf_events *events);

struct ctf_shape ctf_events_shape(struct ctf_events *events, const struct event *event);

/* Return the class of events with this type and shape.  The first such event creates the class. */
bt_event_class *ctf_events_class(struct ctf_events *events, const struct event *event,
				 const struct ctf_shape *shape);

/* Fill in all fields of `to`. */
void ctf_events_fill(const struct ctf_events *events, const struct event *event, const struct ctf_shape *shape,
		     bt_event *to);

/*
 * A span is an event with the name "txtrace_span", at the time when the span begins.  Its fields are the name of the
 * span, its duration, the number of the event that begins it, and "ended" or "open".  An open span lasts until the last
 * event.
 */
bt_event_class *ctf_events_span_class(struct ctf_events *events);

/* Fill in all fields of `to`.  `begins` is the event that begins the span. */
void ctf_events_fill_span(const struct ctf_events *events, const struct event *begins, const char *name,
			  const struct span_time *time, bt_event *to);

#endif
