/* SPDX-License-Identifier: MIT */
/*
 * The argument of `txtrace diff --fail-if`; see also txtrace-diff(1).
 *
 *	threshold = METRIC [":" GLOB] OPERATOR NUMBER [UNIT]
 *
 * METRIC: count, rate, median, p99, max of the event types that match GLOB; thread: the events of the threads that
 * match GLOB; events, duration, lost: of the whole trace, without GLOB. OPERATOR: < <= > >= = !=. UNIT: "%" compares
 * the increase from the old trace to the new one; ns, us, ms, s, m or h is for a time; a number has no unit.
 */
#ifndef TXTRACE_DIFF_THRESHOLD_H
#define TXTRACE_DIFF_THRESHOLD_H

#include <stdbool.h>

#include "diff/tally.h"

enum metric {
	METRIC_COUNT,
	METRIC_RATE,
	METRIC_MEDIAN,
	METRIC_P99,
	METRIC_MAX,
	METRIC_THREAD,
	METRIC_EVENTS,
	METRIC_DURATION,
	METRIC_LOST,
	NR_METRICS
};

struct value {
	bool is_known;
	double value; /* the number; a time is in ns */
};

/*
 * Return the value of a metric. `tally` has the counts of the event type or thread. `tally` is NULL if the trace has no
 * such type or thread. It is also NULL if the metric is for the whole trace.
 */
struct value metric_value(enum metric metric, const struct trace_tally *trace,
			  const struct tally *tally);

const char *metric_name(enum metric metric);
bool metric_is_time(enum metric metric);

/* Return the increase from old to new in percent, or infinity if old is 0. */
double change_of(double old, double new);

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
