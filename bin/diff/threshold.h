/* SPDX-License-Identifier: MIT */
/*
 * What --fail-if of `txtrace diff` is about; txtrace-diff(1) tells it to users.
 *
 *	limit	= METRIC [":" GLOB] OPERATOR NUMBER [UNIT]
 *
 * METRIC: count, rate, median, p99, max of the event types that GLOB matches; thread, the events of the threads that it
 * matches; events, duration, lost of the whole trace, without GLOB.  OPERATOR: < <= > >= = !=.  UNIT: % compares how much
 * the new trace has more than the old one, in hundredths of that; ns, us, ms, s, m, h, for what is a time; none, for what
 * is a number.
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
	double value; /* times in ns */
};

/* Of a trace; tally: the event type or thread that it is about, NULL if the trace has none or it is about all. */
struct value metric_value(enum metric metric, const struct trace_tally *trace,
			  const struct tally *tally);

const char *metric_name(enum metric metric);
bool metric_is_time(enum metric metric);

/* How much more the new one is, in percent; from nothing to something is infinite. */
double change_of(double old, double new);

struct threshold {
	const char *text; /* as it was given */
	enum metric metric;
	char *glob; /* NULL: of the whole trace */
	int sign;   /* -1, 0, 1: what comparing yields, */
	bool or_equal, is_inverted;
	double number;
	bool is_percent;
};

/* False: it is wrong, and that was said. */
bool threshold_parse(const char *text, struct threshold *threshold);
void threshold_free(struct threshold *threshold);

/* True if it holds for these values. */
bool threshold_holds(const struct threshold *threshold, struct value old, struct value new);

#endif
