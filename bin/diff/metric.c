/* SPDX-License-Identifier: MIT */
#include "diff/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"

#define NAME_WIDTH 36

#define FIRST(measure) (METRIC_TIMED + (measure)*NR_STATISTICS)
#define TIMED(measure, name)                                                                       \
	[FIRST(measure) + STATISTIC_COUNT] = {name "-count", false, true},                         \
	[FIRST(measure) + STATISTIC_TOTAL] = {name "-total", true, true},                          \
	[FIRST(measure) + STATISTIC_P99] = {name "-p99", true, true},                              \
	[FIRST(measure) + STATISTIC_MAX] = {name "-max", true, true}

/*
 * The metrics. Each row has the name of a metric.  Flags show whether the metric is a duration, and whether it belongs
 * to something with a name.
 */
static const struct {
	const char *name;
	bool is_time, has_name;
} metrics[NR_METRICS] = {
	[METRIC_COUNT] = {"count", false, true},
	[METRIC_RATE] = {"rate", false, true},
	[METRIC_MEDIAN] = {"median", true, true},
	[METRIC_P99] = {"p99", true, true},
	[METRIC_MAX] = {"max", true, true},
	[METRIC_THREAD] = {"thread", false, true},
	[METRIC_EVENTS] = {"events", false, false},
	[METRIC_DURATION] = {"duration", true, false},
	[METRIC_LOST] = {"lost", false, false},
	TIMED(MEASURE_HOLD, "hold"),
	TIMED(MEASURE_WAIT, "wait"),
	TIMED(MEASURE_SPAN, "span"),
	TIMED(MEASURE_CPU, "cpu"),
	TIMED(MEASURE_CALL_WAIT, "call-wait"),
	TIMED(MEASURE_THREAD_WAIT, "thread-wait"),
	TIMED(MEASURE_THREAD_HOLD, "thread-hold"),
};

enum metric metric_of(enum measure measure, enum statistic statistic)
{
	return (enum metric)(METRIC_TIMED + (int)measure * NR_STATISTICS + (int)statistic);
}

enum measure metric_measure(enum metric metric)
{
	return (enum measure)((metric - METRIC_TIMED) / NR_STATISTICS);
}

enum metric metric_find(const char *name, size_t length)
{
	int metric = 0;

	while (metric < NR_METRICS &&
	       (strlen(metrics[metric].name) != length || strncmp(metrics[metric].name, name, length) != 0))
		metric++;
	return (enum metric)metric;
}

const char *metric_name(enum metric metric)
{
	return metrics[metric].name;
}

bool metric_is_time(enum metric metric)
{
	return metrics[metric].is_time;
}

bool metric_has_name(enum metric metric)
{
	return metrics[metric].has_name;
}

/* Values. */

struct value metric_value(enum metric metric, const struct trace_tally *trace, const struct tally *tally)
{
	double count = tally ? (double)tally->count : 0;
	bool has_pause = tally && tally->pauses.n > 0;

	switch (metric) {
	case METRIC_COUNT:
	case METRIC_THREAD:
		return (struct value){true, count};
	case METRIC_RATE:
		return (struct value){
			trace->duration_ns > 0,
			trace->duration_ns > 0 ? count * NS_PER_S / (double)trace->duration_ns : 0};
	case METRIC_MEDIAN:
		return (struct value){has_pause,
				      has_pause ? (double)histogram_percentile(&tally->pauses, 50) :
						  0};
	case METRIC_P99:
		return (struct value){has_pause,
				      has_pause ? (double)histogram_percentile(&tally->pauses, 99) :
						  0};
	case METRIC_MAX:
		return (struct value){has_pause, has_pause ? (double)tally->pauses.largest : 0};
	case METRIC_EVENTS:
		return (struct value){true, (double)trace->nr_events};
	case METRIC_DURATION:
		return (struct value){true, (double)trace->duration_ns};
	default:
		return (struct value){!trace->is_foreign, (double)trace->nr_lost};
	}
}

struct value metric_timed_value(enum metric metric, const struct timed_list *list, struct timed *timed)
{
	enum statistic statistic = (enum statistic)((metric - METRIC_TIMED) % NR_STATISTICS);
	bool has_time = timed && timed->durations.n > 0;

	if (!list->is_known || (timed && timed->is_partial))
		return (struct value){0};
	switch (statistic) {
	case STATISTIC_COUNT:
		return (struct value){true, timed ? (double)timed->durations.n : 0};
	case STATISTIC_TOTAL:
		return (struct value){true, timed ? (double)timed->durations.sum : 0};
	case STATISTIC_P99:
		return (struct value){has_time, has_time ? (double)durations_percentile(&timed->durations, 99) : 0};
	default:
		return (struct value){has_time, has_time ? (double)timed->durations.largest : 0};
	}
}

double change_of(double old, double new)
{
	if (old == new)
		return 0;
	return old == 0 ? INFINITY : (new - old) / old * 100;
}

/* Text. */

const char *metric_words(enum metric metric, struct value value, char words[32])
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	if (!value.is_known)
		return strcpy(words, "-");
	if (!metric_is_time(metric)) {
		snprintf(words, 32, metric == METRIC_RATE ? "%.1f/s" : "%.0f", value.value);
		return words;
	}
	while (i < 3 && value.value < units[i].ns)
		i++;
	snprintf(words, 32, i < 3 ? "%.3f %s" : "%.0f %s", value.value / units[i].ns,
		 units[i].name);
	return words;
}

const char *metric_change_words(enum metric metric, struct value old, struct value new, char words[32])
{
	double change = change_of(old.value, new.value);

	if (!old.is_known || !new.is_known)
		return strcpy(words, old.is_known == new.is_known ? "-" :
				     new.is_known		  ? "new" :
								    "gone");
	if (change == 0)
		return strcpy(words, "=");
	if (isinf(change))
		return strcpy(words, metric_is_time(metric) ? "from 0" : "new");
	if (new.value == 0 && !metric_is_time(metric))
		return strcpy(words, "gone");
	snprintf(words, 32, "%+.1f %%", change);
	return words;
}

void metric_put_row(struct text *text, const char *name, enum metric metric, struct value old, struct value new)
{
	char words[32];
	bool is_same = old.is_known == new.is_known &&old.value == new.value;

	text_plain(text, name, NAME_WIDTH);
	text_printf(text, " %14s", metric_words(metric, old, words));
	text_printf(text, " %14s  ", metric_words(metric, new, words));
	text_string(text, terminal_color(is_same ? COLOR_DIM : COLOR_BOLD));
	text_printf(text, "%12s", metric_change_words(metric, old, new, words));
	text_string(text, terminal_color(COLOR_PLAIN));
	text_char(text, '\n');
}

void metric_put_titles(struct text *text, const char *what)
{
	text_string(text, terminal_color(COLOR_DIM));
	text_plain(text, what, NAME_WIDTH);
	text_printf(text, " %14s %14s  %12s\n", "old", "new", "change");
	text_string(text, terminal_color(COLOR_PLAIN));
}
