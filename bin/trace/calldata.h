/* SPDX-License-Identifier: MIT */
/* Decode the data of the calls that the preloaded object recorded, into named fields. */
#ifndef TXTRACE_TRACE_CALLDATA_H
#define TXTRACE_TRACE_CALLDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "trace/source.h"

#define CALLDATA_WAIT "wait" /* the events of a call that waited also have this field: "begins" or "ends" */
#define CALL_FIELD_BYTES 4096 /* largest size of the text of a field */

struct call_field {
	char name[24];
	const char *label; /* the name without its null byte; always the same pointer for this field of a call */
	char kind;		     /* one of those in lib/event/calls.h */
	int64_t value;		     /* the recorded value, or 0 if the field is a text */
	char text[CALL_FIELD_BYTES]; /* the value as the tool prints it, without quotes */
	bool is_number;		     /* `text` is a decimal number */
	const char *object;	     /* the name of the object that the value identifies, or NULL */
};

/* Return true if the event is a call, and if its data has the form of a call. */
bool calldata_is(struct source *source, const struct event *event);

/* Get the i-th field that the call uses.  Return false if there is no such field. */
bool calldata_at(struct source *source, const struct event *event, size_t i,
		 struct call_field *field);
/* Get the field with this name, or CALLDATA_WAIT.  Return false if there is no such field. */
bool calldata_get(struct source *source, const struct event *event, const char *name,
		  struct call_field *field);

/* Print all fields as text: mutex=queue_lock owner=12 ... */
void calldata_print(struct text *text, struct source *source, const struct event *event);
/* Print all fields as a JSON object. */
void calldata_json(struct text *text, struct source *source, const struct event *event);

#endif
