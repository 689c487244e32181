/* SPDX-License-Identifier: MIT */
/*
 * The data of user events as fields, if their type has a description: from the command line, from a file beside the
 * trace (type_lines.h), or in the log or the stream, in this order.  lib/fields/fields.h parses descriptions, lists
 * their fields and reads values.
 */
#ifndef TXTRACE_TRACE_PAYLOAD_H
#define TXTRACE_TRACE_PAYLOAD_H

#include <stdbool.h>

#include "../lib/fields/fields.h"
#include "../lib/fields/span.h"
#include "base/output.h"
#include "trace/source.h"

/*
 * Call this function once for each source, before its first event is shown.  It reads the descriptions beside the
 * trace, and notes which event types of --type the source has.
 */
void payload_begin(struct source *source);

/* Report the event types of --type that no source has. */
void payload_report_unused(void);

typedef void payload_take(void *argument, trace_event_id_t type, const struct px_fields *fields);

/*
 * Call take() for each described type, also for the system events with fields.  While a trace goes on, the types of
 * --type that may come later are among them, as type 0.
 */
void payload_each_type(struct source *source, payload_take *take, void *argument);

typedef void payload_span(void *argument, const char *name, const struct px_span *span);

/*
 * Before a log is merged: replace the names of types of the program by their descriptions from its debugging
 * information, or, with a message, by a description as bytes.  Another log may have another type of that name.
 */
void payload_describe_for_merge(struct source *source);

/* Call take() for each span that the program has described. */
void payload_each_span(struct source *source, payload_span *take, void *argument);

/* Return the fields of a type, or NULL if it has no description or only names a type of the program. */
const struct px_fields *payload_fields(struct source *source, trace_event_id_t type);

/* A single value in the data of a type. */
struct payload_field {
	char *label; /* "data.load", "data.at[1].x", as in filters and columns */
	const char *path; /* in it: "load", "at[1].x" */
	struct px_field_place place; /* place.field has the kind, the size, and the names of an enum */
};

#define PAYLOAD_FIELDS_MAX 1024

/*
 * Return the values of a type, in the order of the description; *nr is 0 if it has none.  The list leaves out the
 * elements of an array that takes the rest of the data, and the values after the first PAYLOAD_FIELDS_MAX.  It is valid
 * as long as the source.
 */
const struct payload_field *payload_list(struct source *source, trace_event_id_t type, size_t *nr);

/* Get the value of a field of this event.  Return false if the data do not have it whole; a cut text is there. */
bool payload_value_at(struct source *source, const struct event *event, const struct payload_field *field,
		      struct px_field_value *value);

/*
 * Return the description of a type, or of the span of this name, on one line, or "" if it has none.  The text is valid
 * as long as the source.
 */
const char *payload_description(struct source *source, trace_event_id_t type);

/*
 * Return the data as they were in the memory of the traced program; event->data of a ThreadX trace buffer are words in
 * the order of this machine.  The result is valid until the next call.
 */
const unsigned char *payload_bytes(const struct source *source, const struct event *event);

/*
 * Return the number of 1, 2, 4 or 8 bytes at this offset of the data, as it was in the memory of the traced program.
 * The data have all of it.
 */
uint64_t payload_number(const struct source *source, const struct event *event, size_t offset, size_t bytes);

/* Return true if the event has fields. */
bool payload_is(struct source *source, const struct event *event);

/*
 * Print all fields as text: id=7 load=0.5 name="customer-1".  If the data are shorter than the type, say how many bytes
 * are missing; if they are longer, print the rest as bytes.
 */
void payload_print(struct text *text, struct source *source, const struct event *event);

/*
 * Print all fields as a JSON object.  If the data are too short, it has the member missing_bytes, and if they are too
 * long, more_hex.
 */
void payload_json(struct text *text, struct source *source, const struct event *event);

/* Get the value of a path such as "load" or "at[1].x".  Return false if the event does not have it. */
bool payload_get(struct source *source, const struct event *event, const char *path,
		 struct px_field_value *value);

enum payload_style { PAYLOAD_TEXT, PAYLOAD_CSV, PAYLOAD_JSON };

/* Print one value: in CSV a text has no quotes of its own, and in JSON addresses and names are strings. */
void payload_value(struct text *text, const struct px_field_value *value, enum payload_style style);

/* Print a number with the least digits that are read back as the same number; `most` are enough. */
void payload_real(struct text *text, double real, unsigned int most, enum payload_style style);

/* Release what payload_fields() keeps in a type. */
void payload_forget(struct source_type *type);

#endif
