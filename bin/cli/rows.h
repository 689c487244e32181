/* SPDX-License-Identifier: MIT */
/*
 * Rows of values in columns of fixed widths, printed one by one: lines of text, or objects of a JSON array.  The caller
 * prints the brackets of the array.  A table (table.h) measures its columns, so it keeps all rows until its end.
 */
#ifndef TXTRACE_CLI_ROWS_H
#define TXTRACE_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

struct rows_column {
	const char *title; /* in text; NULL: not in text */
	const char *key;   /* in JSON; NULL: not in JSON */
	int gap;	   /* blanks before the column */
	int width;	   /* 0: the last column */
	bool is_right;	   /* aligned to the right */
};

struct rows {
	struct text *text;
	bool is_json;
	bool is_dense; /* JSON: without blanks, each row at the begin of a line */
	bool is_dim;   /* text: the titles are dim */
	const struct rows_column *columns; /* a column without title and key ends them */
	const struct rows_column *next;
	bool has_cell; /* JSON: this row has a member */
	size_t nr;     /* complete rows */
};

/* Print the line of titles, in text only. */
void rows_titles(struct rows *rows);

/* Begin a row. Then add the cells in the order of the columns. */
void rows_begin(struct rows *rows);
void rows_string(struct rows *rows, const char *string);
void rows_number(struct rows *rows, unsigned long long number);
void rows_signed(struct rows *rows, long long number);
/* One decimal. */
void rows_real(struct rows *rows, double number);
/* "yes" or "no"; in JSON true or false. */
void rows_bool(struct rows *rows, bool value);
/* "-"; in JSON null. */
void rows_unknown(struct rows *rows);
void rows_end(struct rows *rows);

#endif
