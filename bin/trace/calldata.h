/* SPDX-License-Identifier: MIT */
/* The calls of a program that does not use posixtrace: the data of their events, as fields with names. */
#ifndef TXTRACE_TRACE_CALLDATA_H
#define TXTRACE_TRACE_CALLDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "trace/source.h"

#define CALL_FIELD_BYTES 512 /* of its text */

struct call_field {
	char name[24];
	char kind;		     /* as lib/event/calls.h has them: p, n, q, d, u, x, t, h, e, s, a */
	int64_t value;		     /* as it was recorded; 0 of a text */
	char text[CALL_FIELD_BYTES]; /* as it is shown, without quotes */
	bool is_number;		     /* that is a decimal number */
	const char *object;	     /* the name of what the value stands for, or NULL */
};

/* True if the event is one of a call, and has its data. */
bool calldata_is(struct source *source, const struct event *event);

/* The i-th field that the call uses, or the one of this name.  False: it has none. */
bool calldata_at(struct source *source, const struct event *event, size_t i,
		 struct call_field *field);
bool calldata_get(struct source *source, const struct event *event, const char *name,
		  struct call_field *field);

/* All of them: mutex=queue_lock owner=12 ..., or as an object of JSON. */
void calldata_print(struct text *text, struct source *source, const struct event *event);
void calldata_json(struct text *text, struct source *source, const struct event *event);

#endif
