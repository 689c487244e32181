/* SPDX-License-Identifier: MIT */
/*
 * Tables, printed as text, JSON or CSV.
 *
 * JSON: one object with an array of objects for each table; unknown values are null. CSV: one row for each value, so
 * that tables with different columns fit into one file: table, labels (the first columns), column, value.
 */
#ifndef TXTRACE_CLI_TABLE_H
#define TXTRACE_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "cli/format.h"

#define TABLE_COLUMNS 12

struct column {
	const char *title; /* title in text */
	const char *key;   /* key in JSON and CSV */
	bool is_number;
};

struct table {
	struct text *text;
	enum format format;
	bool is_begun; /* JSON: something was printed */
	const char *title, *key;
	const struct column *columns;
	int nr_columns;
	int nr_labels; /* 1 or 2: the first columns, which identify a row */
	char **cell;   /* the cells, row by row; NULL: the value is not known */
	size_t nr_cells, room;
};

/* Call this before the first table. */
void table_open(struct table *table, struct text *text, enum format format);
/* Call this after the last table. */
void table_close(struct table *table);

/* Begin a table. A column without a title ends the list of columns. Then add the cells, row by row. */
void table_begin(struct table *table, const char *title, const char *key,
		 const struct column *columns, int nr_labels);
void table_string(struct table *table, const char *string);
void table_number(struct table *table, uint64_t number);
void table_real(struct table *table, double number);
void table_seconds(struct table *table, int64_t ns);
void table_percent(struct table *table, double part, double whole);
void table_unknown(struct table *table);

/* Print the table. */
void table_end(struct table *table);

/* Print a paragraph, in text only. */
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
