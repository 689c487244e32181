/* SPDX-License-Identifier: MIT */
/*
 * Tables, which are printed as text, JSON or CSV.
 *
 * JSON is one object, with an array of objects for each table; numbers are numbers, and what is not known is null.  CSV
 * has a row for each value, so that tables of different columns fit into one: table, what it is of (the first columns of
 * the table), which value, the value.
 */
#ifndef TXTRACE_CLI_TABLE_H
#define TXTRACE_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "cli/format.h"

#define TABLE_COLUMNS 12

struct column {
	const char *title; /* in text */
	const char *key;   /* in JSON and CSV */
	bool is_number;
};

struct table {
	struct text *text;
	enum format format;
	bool is_begun; /* of the JSON object: something was printed */
	const char *title, *key;
	const struct column *columns;
	int nr_columns;
	int nr_labels; /* 1 or 2: so many columns tell what a row is of */
	char **cell;   /* rows of columns; NULL: not known */
	size_t nr_cells, room;
};

/* The beginning and the end of all tables. */
void table_open(struct table *table, struct text *text, enum format format);
void table_close(struct table *table);

/* columns ends in one without a title.  Then the cells, row by row. */
void table_begin(struct table *table, const char *title, const char *key,
		 const struct column *columns, int nr_labels);
void table_string(struct table *table, const char *string);
void table_number(struct table *table, uint64_t number);
void table_real(struct table *table, double number);
void table_seconds(struct table *table, int64_t ns);
void table_percent(struct table *table, double part, double whole);
void table_unknown(struct table *table);

/* Print it. */
void table_end(struct table *table);

/* Only in text: a paragraph. */
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
