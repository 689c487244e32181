/* SPDX-License-Identifier: MIT */
/* The options of all commands that read events: -f, --from, --until, --names, --tick, --time, --type, -T. */
#ifndef TXTRACE_TRACE_SELECTION_H
#define TXTRACE_TRACE_SELECTION_H

#include <stdbool.h>

#include "trace/filter.h"
#include "trace/source.h"
#include "trace/time_arg.h"

struct selection {
	struct filter *filter;
	struct time_arg from, until;
	double tick_ns;
};

/*
 * Return 1 for an option of the selection and 0 for any other option.  If the argument is wrong, print a message and
 * return -1.
 */
int selection_option(struct selection *selection, int code, const char *argument);

/*
 * Call this function when all sources of a command are open, and before their first event is read.  If no source has a
 * field that the filter tests, or if the range of times has no time, print a message and return false.
 */
bool selection_begin(const struct selection *selection, struct source *const *sources, size_t nr);

struct time_range {
	int64_t from_ns, until_ns; /* until_ns is the first time after the range */
};

/* Return the range of --from and --until.  A relative time needs the first event, so call this when it was read. */
struct time_range selection_range(const struct selection *selection, const struct source *source);

/* Read the next selected event.  Return false after the last event. */
bool selection_next(const struct selection *selection, struct source *source, struct event *event);

/*
 * Call this after the last event.  If source->nr_selected is 0, say once that no event is in the range or matches the
 * filter, and which names of the filter the trace does not have.
 */
void selection_report_empty(const struct selection *selection, struct source *source);

void selection_free(struct selection *selection);

#endif
