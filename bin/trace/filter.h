/* SPDX-License-Identifier: MIT */
/*
 * The filter language: which events a command looks at.  One for all commands; txtrace-filter(7) tells it to users.
 *
 *	or	= and { "or" and }
 *	and	= not { ["and"] not }
 *	not	= "not" not | "(" or ")" | test
 *	test	= FIELD OPERATOR VALUE | GLOB			a GLOB alone: of the event's name
 *
 * FIELD		VALUE, and what it is compared with
 * event		glob, the name of the type		object	glob, the name of an object in its words
 * thread		glob, the name of the thread		data	a string that the data hold
 * time		TIME, see time_arg.h			type, context, pid, cpu, priority, size, address, number
 * data.NAME: a field of a call (calldata.h), as a number where VALUE is one, else glob
 * u8 u16 u32 u64 i8 i16 i32 i64, with [OFFSET] in bytes	a number in the data; so that u32 or i32 alone is the first
 *
 * OPERATOR: ":" and "=" (equal, or the glob matches), "!=", "<", "<=", ">", ">=".  Numbers are decimal, 0x or 0.
 */
#ifndef TXTRACE_TRACE_FILTER_H
#define TXTRACE_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"
#include "trace/time_arg.h"

struct filter;

/* NULL: it is wrong, and that was said, with the place. */
struct filter *filter_parse(const char *expression);
void filter_free(struct filter *filter);

/* filter NULL: all events. */
bool filter_takes(const struct filter *filter, struct source *source, const struct event *event);

/* What commands that read events have in common: -f, --from, --until, --tick. */
struct selection {
	struct filter *filter;
	struct time_arg from, until;
	double tick_ns;
};

/* Takes the option if it is one of these: 1; 0: it is none; -1: it is wrong, and that was said. */
int selection_option(struct selection *selection, int code, const char *argument);

/* The next event that was selected. */
bool selection_next(const struct selection *selection, struct source *source, struct event *event);

void selection_free(struct selection *selection);

#endif
