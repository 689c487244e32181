/* SPDX-License-Identifier: MIT */
/*
 * A time in a trace, as users write it.
 *
 * TIME: a number with ns, us, ms, s, m or h, counted from the first event; or a local time, HH:MM[:SS[.digits]] or
 * YYYY-MM-DD[THH:MM[:SS[.digits]]], the latter also with a zone after the clock, Z or +HH:MM; or seconds since 1970
 * with at least 9 digits before the point.
 */
#ifndef TXTRACE_TRACE_TIME_ARG_H
#define TXTRACE_TRACE_TIME_ARG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

/* Return the length of "ns", "us", "ms", "s", "m" or "h" in ns, or 0 if the unit is unknown. */
double unit_ns(const char *unit);

/* A relative time counts from the first event. */
struct time_arg {
	bool is_set, is_relative;
	int64_t ns;
	int64_t seconds_of_day; /* the time of an absolute time without a date; -1 if the time has a date */
};

/* If the text is not a TIME, print a message and return false. */
bool time_arg_parse(const char *text, struct time_arg *time_arg);

/*
 * Return true if a is not before b in any trace.  This is known if both times count from the first event, if both have
 * a date, or if neither has one.
 */
bool time_arg_is_never_before(const struct time_arg *a, const struct time_arg *b);

/* Return the time as a time_ns of the events of this source.  Call this after reading the first event. */
int64_t time_arg_ns(const struct time_arg *time_arg, const struct source *source);

#endif
