/* SPDX-License-Identifier: MIT */
/* The figures of two traces that txtrace diff compares, their names in --fail-if, and how they are printed. */
#ifndef TXTRACE_DIFF_METRIC_H
#define TXTRACE_DIFF_METRIC_H

#include <stdbool.h>

#include "base/output.h"
#include "diff/tally.h"
#include "diff/times.h"

enum statistic { STATISTIC_COUNT, STATISTIC_TOTAL, STATISTIC_P99, STATISTIC_MAX, NR_STATISTICS };

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
	METRIC_TIMED, /* the statistics of the measures: METRIC_TIMED + measure * NR_STATISTICS + statistic */
	NR_METRICS = METRIC_TIMED + NR_MEASURES * NR_STATISTICS
};

struct value {
	bool is_known;
	double value; /* the number; a time is in ns */
};

/*
 * Return the value of a metric before METRIC_TIMED. `tally` has the counts of the event type or thread. `tally` is NULL
 * if the trace has no such type or thread. It is also NULL if the metric is for the whole trace.
 */
struct value metric_value(enum metric metric, const struct trace_tally *trace, const struct tally *tally);

enum metric metric_of(enum measure measure, enum statistic statistic);
/* The metric is at least METRIC_TIMED. */
enum measure metric_measure(enum metric metric);

/* Return a metric from METRIC_TIMED on.  `timed` is NULL if the list has no times of this name. */
struct value metric_timed_value(enum metric metric, const struct timed_list *list, struct timed *timed);

/* Return the metric with this name, or NR_METRICS. */
enum metric metric_find(const char *name, size_t length);
const char *metric_name(enum metric metric);
bool metric_is_time(enum metric metric);
bool metric_has_name(enum metric metric); /* it is for one event type, thread, object, ... */

/* Return the increase from old to new in percent, or infinity if old is 0. */
double change_of(double old, double new);

const char *metric_words(enum metric metric, struct value value, char words[32]);
const char *metric_change_words(enum metric metric, struct value old, struct value new, char words[32]);

/* Print a row of a table, and its titles. */
void metric_put_row(struct text *text, const char *name, enum metric metric, struct value old, struct value new);
void metric_put_titles(struct text *text, const char *what);

#endif
