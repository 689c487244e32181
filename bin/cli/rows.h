/* SPDX-License-Identifier: MIT */
/*
 * Rows of values in columns of fixed widths, printed one by one: lines of text, or objects of a JSON array.  The caller
 * prints the brackets of the array.  In contrast, a table (table.h) measures its columns, so it stores all rows until
 * its end.
 */
#ifndef TXTRACE_CLI_ROWS_H
#define TXTRACE_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

struct rows_column {
	const char *title; /* title in text; NULL: the column is not in text */
	const char *key;   /* key in JSON; NULL: the column is not in JSON */
	int gap;	   /* blanks before the column */
	int width;	   /* 0: the last column */
	bool is_right;	   /* the column is aligned to the right */
};

struct rows {
	struct text *text;
	bool is_json;
	bool is_dense; /* JSON: without blanks, each row on a line of its own */
	bool is_dim;   /* text: the titles are printed dim */
	const struct rows_column *columns; /* a column without title and key ends them */
	const struct rows_column *next;
	bool has_cell; /* JSON: this row has a member already */
	size_t nr;     /* number of complete rows */
};

/* Print the line of titles, in text only. */
void rows_titles(struct rows *rows);

/* Begin a row. Then add the cells in the order of the columns. */
void rows_begin(struct rows *rows);
void rows_string(struct rows *rows, const char *string);
void rows_number(struct rows *rows, unsigned long long number);
void rows_signed(struct rows *rows, long long number);
/* Print the number with one decimal. */
void rows_real(struct rows *rows, double number);
/* Print "yes" or "no", in JSON true or false. */
void rows_bool(struct rows *rows, bool value);
/* Print "-", in JSON null. */
void rows_unknown(struct rows *rows);
void rows_end(struct rows *rows);

#endif
