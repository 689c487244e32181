/* SPDX-License-Identifier: MIT */
/*
 * What is printed of an event: columns, for all commands that list events, and in all formats.
 */
#ifndef TXTRACE_TRACE_COLUMNS_H
#define TXTRACE_TRACE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "cli/format.h"
#include "trace/source.h"
#include "trace/symbols.h"

#define COLUMNS_MAX 32

struct listing {
	struct text *text;
	struct source *source;
	enum format format;
	int column[COLUMNS_MAX]; /* of the table in columns.c */
	int nr_columns;
	int64_t last_ns;
	uint64_t nr_printed;
	size_t thread_width, event_width;
	struct symbols *symbols; /* NULL: no column needs them */
};

/* Names of columns with commas between them, or "all"; NULL: what is usual.  False: one is unknown, and that was said. */
bool listing_choose(struct listing *listing, const char *names);

/* Head, events, foot. */
void listing_begin(struct listing *listing);
void listing_event(struct listing *listing, const struct event *event);
void listing_end(struct listing *listing);

/* Whether they can be read as text. */
bool data_is_text(const struct event *event);

/* The data of an event in words: names of objects and of information words where they are known. */
void print_data(struct text *text, struct source *source, const struct event *event);

#endif
