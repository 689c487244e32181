/* SPDX-License-Identifier: MIT */
/*
 * The argument of `txtrace diff --fail-if`; see also txtrace-diff(1).
 *
 *	threshold = METRIC [":" GLOB] OPERATOR NUMBER [UNIT]
 *
 * METRIC: count, rate, median, p99, max of the event types that match GLOB; thread: the events of the threads that
 * match GLOB; hold-p99 and the like: of the objects, calls, threads or spans that match GLOB; events, duration, lost:
 * of the whole trace, without GLOB.  OPERATOR: < <= > >= = !=.  UNIT: "%" compares the increase from the old trace to
 * the new one; ns, us, ms, s, m or h is for a time; a number has no unit.
 */
#ifndef TXTRACE_DIFF_THRESHOLD_H
#define TXTRACE_DIFF_THRESHOLD_H

#include <stdbool.h>

#include "diff/metric.h"

struct threshold {
	const char *text; /* the argument of --fail-if */
	enum metric metric;
	char *glob; /* NULL if the metric is for the whole trace */
	int sign;   /* selects the results of the comparison that make the condition true */
	bool or_equal, is_inverted;
	double number;
	bool is_percent;
};

/* After an error, print a message and return false. */
bool threshold_parse(const char *text, struct threshold *threshold);
void threshold_free(struct threshold *threshold);

/* Return true if the condition is true for these values. */
bool threshold_holds(const struct threshold *threshold, struct value old, struct value new);

#endif
