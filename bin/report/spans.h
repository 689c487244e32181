/* SPDX-License-Identifier: MIT */
/*
 * Spans: the time from an event to a later one of the same thread, or with the same number in its data.
 *
 * A span that begins again before it has ended is not counted: its end is missing.  Where events are missing in the
 * trace, no span that has begun before is counted.
 *
 * Memory use depends on the number of spans that are open at the same time.
 */
#ifndef TXTRACE_REPORT_SPANS_H
#define TXTRACE_REPORT_SPANS_H

#include "base/durations.h"
#include "base/map.h"
#include "cli/table.h"
#include "trace/selection.h"

#define SPANS_MAX 16
#define SPAN_BUCKETS 64

struct span {
	char *name, *begins, *ends; /* begins and ends are globs for names of events */
	unsigned int key_bytes, key_offset; /* the number in the data that pairs events; 0 bytes: the thread does */
	struct map begun;		    /* value: 1 + the time since the first event */
	uint64_t nr_open, nr_unfinished;    /* spans that have begun; spans without an end */
	uint64_t nr_without_begin;	    /* events that end no span */
	uint64_t bucket[SPAN_BUCKETS];	    /* bucket i: at least 2^(i - 1) ns, and less than 2^i ns */
	struct durations durations;
};

struct spans {
	struct span span[SPANS_MAX];
	unsigned int nr;
};

/*
 * Parse "NAME=BEGIN..END" or "NAME=BEGIN..END:u32[OFFSET]", and add it.  If it is wrong, print a message and return
 * false.
 */
bool spans_add(struct spans *spans, const char *text);

/* Read the events, and print the tables. */
void spans_report(struct spans *spans, struct source *source, const struct selection *selection, struct table *table);
void spans_free(struct spans *spans);

#endif
