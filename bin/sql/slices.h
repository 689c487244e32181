/* SPDX-License-Identifier: MIT */
/* The view of all that lasted: one row for each row of waits, holds, spans and states. */
#ifndef TXTRACE_SQL_SLICES_H
#define TXTRACE_SQL_SLICES_H

#define SQL_SLICES "slices"
#define SQL_SLICES_SUMMARY "one row for each row of waits, holds, spans and states"

/*
 * Return the query of the view.  columns: more columns in front, each with a comma after it.  null: a NULL with the
 * type of a text.  The caller calls sqlite3_free() on the result, which is NULL if memory is short.
 */
char *sql_slices_query(const char *columns, const char *null);

#endif
