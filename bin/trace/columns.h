/* SPDX-License-Identifier: MIT */
/* Columns of events, for all commands that list events, in all formats. */
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
	int column[COLUMNS_MAX]; /* indexes of the chosen columns in the table of columns.c */
	char *field[COLUMNS_MAX]; /* of a column data.FIELD, its name */
	int nr_columns;
	bool quotes_ns; /* in JSON, print ns as a string */
	int64_t last_ns;
	uint64_t nr_printed;
	size_t thread_width, event_width, host_width;
	bool has_hosts; /* of a merged log with several hosts, whose pids and CPUs have more digits */
	struct symbols *symbols; /* NULL if no column needs symbols */
};

/*
 * Choose the columns.  `names` are names with commas between them, "data.FIELD" or "all".  NULL means the default
 * columns.  If a name is unknown, print a message and return false.
 */
bool listing_choose(struct listing *listing, const char *names);

/* Return the name of a column by its number, or NULL after the last one.  "data.FIELD" has none. */
const char *listing_column_name(int i);

/* Print the text before the first event, for example the column names. */
void listing_begin(struct listing *listing);
/* Print one event.  In JSON, ROW_SEPARATOR is in front of it if it is not the first one. */
#define ROW_SEPARATOR ",\n"
void listing_event(struct listing *listing, const struct event *event);
/* Print the text after the last event. */
void listing_end(struct listing *listing);

#endif
