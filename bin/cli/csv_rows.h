/* SPDX-License-Identifier: MIT */
/*
 * CSV of several tables in one file, with one line for each row.  The first column has the key of the table.  The
 * others are the columns of all tables; a row has empty fields in those that its table does not have.  The rows are
 * kept until all columns are known.
 */
#ifndef TXTRACE_CLI_CSV_ROWS_H
#define TXTRACE_CLI_CSV_ROWS_H

#include <stddef.h>

#include "base/intern.h"
#include "base/output.h"

struct csv_rows {
	struct intern columns; /* the keys of all columns */
	struct csv_row *row;
	size_t nr_rows, room;
};

/* Add a column, which may be known. */
void csv_rows_column(struct csv_rows *rows, const char *key);

/* Begin a row.  `table` must stay valid until csv_rows_print(). */
void csv_rows_begin(struct csv_rows *rows, const char *table);

/* Put a value into the row that was begun last.  NULL: it is not known. */
void csv_rows_put(struct csv_rows *rows, const char *key, const char *value);

/* Print the line of the columns and all rows, and free them. */
void csv_rows_print(struct csv_rows *rows, struct text *text);

#endif
