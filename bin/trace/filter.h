/* SPDX-License-Identifier: MIT */
/*
 * The filter language, which selects events.  All commands use it; txtrace-filter(7) describes it for users.
 *
 * 	or	= and { "or" and }
 * 	and	= not { ["and"] not }
 * 	not	= "not" not | "(" or ")" | test
 * 	test	= FIELD OPERATOR VALUE | WORD
 *
 * A WORD alone is a glob for the name of the event.  If it is the name of no event type of the trace, and has no *, ?
 * or [, it matches if the name of the event or of the thread, or the data, contains it, in upper or lower case.
 *
 * FIELD		is compared with VALUE:
 * event		glob, the name of the type		object	glob, the name of an object in its words
 * thread		glob, the name of the thread, in a log with or without its tid
 * data		a string in the data
 * time		TIME, see time_arg.h			type, context, pid, cpu, priority, size, address, number
 * data.NAME: a field of a call (calldata.h), compared as a number if VALUE is a number, otherwise with a glob
 * u8 u16 u32 u64 i8 i16 i32 i64, with [OFFSET] in bytes	a number in the data; [OFFSET] is 0 if missing
 *
 * OPERATOR: ":", "~" and "=" (equal, or the glob matches), "!=", "<", "<=", ">", ">=".  Numbers are decimal,
 * hexadecimal (0x) or octal (0).
 */
#ifndef TXTRACE_TRACE_FILTER_H
#define TXTRACE_TRACE_FILTER_H

#include <stdbool.h>

#include "trace/source.h"

struct filter;

/* If the expression is wrong, print a message with the position of the error and return NULL. */
struct filter *filter_parse(const char *expression);
void filter_free(struct filter *filter);

/* Return true if the filter selects the event.  If the filter is NULL, it selects all events. */
bool filter_takes(const struct filter *filter, struct source *source, const struct event *event);

/*
 * For each name of an event type, thread or object in the filter that the trace does not have, print the nearest names.
 */
void filter_report_missing(const struct filter *filter, struct source *source);

/*
 * Return true if each field data.NAME of the filter is a field of calls, or of an event type of one of these sources.
 * Otherwise print a message with the names that are like it.
 */
bool filter_check(const struct filter *filter, struct source *const *sources, size_t nr);

#endif
