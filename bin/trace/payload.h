/* SPDX-License-Identifier: MIT */
/*
 * The data of user events as fields, if their type has a description in the log or in the stream.  lib/fields/fields.h
 * parses descriptions and reads values.
 */
#ifndef TXTRACE_TRACE_PAYLOAD_H
#define TXTRACE_TRACE_PAYLOAD_H

#include <stdbool.h>

#include "../lib/fields/fields.h"
#include "base/output.h"
#include "trace/source.h"

/*
 * Use this description for a type: the argument of --type, EVENT=FIELDS.  It goes before one in the log.  If it is wrong,
 * print a message and return false.
 */
bool payload_option(const char *argument);

/* Report the event types of payload_option() that the source does not have. */
void payload_report_unused(struct source *source);

/* Return the fields of a type, or NULL if it has no description or only names a type of the program. */
const struct px_fields *payload_fields(struct source *source, trace_event_id_t type);

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

/* Release what payload_fields() keeps in a type. */
void payload_forget(struct source_type *type);

#endif
