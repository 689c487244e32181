/* SPDX-License-Identifier: MIT */
/*
 * A moment of a trace, as users write it.
 *
 * TIME: a number with ns, us, ms, s, m or h, from the first event on; or HH:MM[:SS[.digits]], YYYY-MM-DD with THH:MM...
 * behind it, in local time.
 */
#ifndef TXTRACE_TRACE_TIME_ARG_H
#define TXTRACE_TRACE_TIME_ARG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

/* How long "ns", "us", "ms", "s", "m" or "h" is; 0: it is no unit of time. */
double unit_ns(const char *unit);

/* Relative ones count from the first event. */
struct time_arg {
	bool is_set, is_relative;
	int64_t ns;
	int64_t seconds_of_day; /* absolute without a date: -1 if it has one */
};

/* False: it is no TIME, and that was said. */
bool time_arg_parse(const char *text, struct time_arg *time_arg);

/* On the scale of the events of this source; needs the first event to have been read. */
int64_t time_arg_ns(const struct time_arg *time_arg, const struct source *source);

#endif
