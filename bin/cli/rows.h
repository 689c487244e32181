/* SPDX-License-Identifier: MIT */
/*
 * Rows of values in columns of fixed widths.  Each row is printed at once: as a line of text, or as an object of a JSON
 * array.  The caller prints the brackets of the array.  In contrast, a table (table.h) measures its columns, so it
 * stores all rows until its end.
 */
#ifndef TXTRACE_CLI_ROWS_H
#define TXTRACE_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

struct rows_column {
	const char *title; /* the title in text, or NULL if text does not have the column */
	const char *key;   /* the key in JSON, or NULL if JSON does not have the column */
	int gap;	   /* number of blanks before the column */
	int width;	   /* the last column has width 0 */
	bool is_right;	   /* the column is aligned to the right */
};

struct rows {
	struct text *text;
	bool is_json;
	bool is_dense; /* JSON has no blanks, and each row is on a line of its own */
	bool is_dim;   /* text prints the titles dim */
	const struct rows_column *columns; /* a column without title and key ends the list */
	const struct rows_column *next;
	bool has_cell; /* JSON: this row already has a member */
	size_t nr;     /* number of complete rows */
};

/* Print the line of titles.  JSON has no such line. */
void rows_titles(struct rows *rows);

/* Begin a row. Then add the cells in the order of the columns. */
void rows_begin(struct rows *rows);
void rows_string(struct rows *rows, const char *string);
void rows_number(struct rows *rows, unsigned long long number);
void rows_signed(struct rows *rows, long long number);
/* Print the number with one decimal. */
void rows_real(struct rows *rows, double number);
/* Print "yes" or "no".  In JSON, print true or false. */
void rows_bool(struct rows *rows, bool value);
/* Print "-" for an unknown value.  In JSON, print null. */
void rows_unknown(struct rows *rows);
void rows_end(struct rows *rows);

#endif
