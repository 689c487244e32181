/* SPDX-License-Identifier: MIT */
/*
 * Tables, printed as text, JSON or CSV.
 *
 * JSON is one object. It has an array of objects for each table. An unknown value is null. CSV has the keys of the
 * columns in its first line, and then one line for each row. If there can be several tables, the first column is
 * `report`, the key of the table, and the others are the columns of all tables (csv_rows.h).
 *
 * A text has lines of at most `width` characters, if this is possible: then the least important columns are left out.
 */
#ifndef TXTRACE_CLI_TABLE_H
#define TXTRACE_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "cli/csv_rows.h"
#include "cli/format.h"
#include "cli/json.h"

#define TABLE_COLUMNS 14

struct column {
	const char *title; /* the title in text */
	const char *key;   /* the key in JSON and CSV */
	bool is_number;
};

struct table {
	struct text *text;
	enum format format;
	int width; /* largest number of characters of a line of text; 0 means any number */
	/* the keys of the columns that long lines leave out, the first one first; NULL: none */
	const char *const *minor;
	bool has_records; /* there is only one table: CSV does not need a column for its name */
	bool has_titles;  /* CSV with has_records: the first line is printed */
	struct csv_rows rows; /* of CSV without has_records */
	struct json json;
	const char *title, *key;
	const struct column *columns;
	int nr_columns;
	int nr_labels; /* the first 1 or 2 columns identify a row; this is their number */
	char **cell;   /* the cells, row by row; a cell is NULL if its value is unknown */
	size_t nr_cells, room;
};

/* Call this before the first table.  After it, the caller may set the members width and minor. */
void table_open(struct table *table, struct text *text, enum format format);
/* Return the width for a user who has not asked for wide tables: that of the terminal, but at least 80. */
int table_usual_width(const struct table *table);

/* Call this after the last table. */
void table_close(struct table *table);

/* Begin a table. A column without a title ends the list of columns. After this call, add the cells row by row. */
void table_begin(struct table *table, const char *title, const char *key,
		 const struct column *columns, int nr_labels);
void table_string(struct table *table, const char *string);
void table_number(struct table *table, uint64_t number);
void table_real(struct table *table, double number);
void table_seconds(struct table *table, int64_t ns);
/*
 * A time of an event, and that of the first event: in text as --time wants it, otherwise in seconds from the first
 * event.  first_ns is 0 if the trace has no date; then the time is in seconds, too.
 */
void table_time(struct table *table, int64_t time_ns, int64_t first_ns);
/* A duration: in text with a unit such as "193.3 us", in JSON and CSV in seconds. */
void table_duration(struct table *table, int64_t ns);
void table_percent(struct table *table, double part, double whole);
void table_unknown(struct table *table);

/* Print the table. */
void table_end(struct table *table);

/* Print a paragraph. JSON and CSV do not have it. */
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
