/* SPDX-License-Identifier: MIT */
/*
 * A database of SQLite with tables over trace files.  Nothing is imported: the tables read the files.  Statements can
 * only read: what would write, or open another file, is refused.
 */
#ifndef TXTRACE_SQL_DATABASE_H
#define TXTRACE_SQL_DATABASE_H

#include <stdbool.h>

#include "base/output.h"
#include "cli/format.h"
#include "sql/table.h"

/*
 * Open the files.  spans: those of the options, or NULL.  The caller keeps the paths and the selection valid, and
 * closes the database with sql_close(), also after a failure.  is_quiet: do not report what the files lack.  After a
 * failure, print a message and return false.
 */
bool sql_open(struct sql_database *database, char *const *paths, unsigned int nr_paths,
	      const struct selection *selection, const struct spans *spans, bool is_quiet);
void sql_close(struct sql_database *database);

/*
 * Run statements, and print the rows of each.  If is_single, more than one statement is an error.  After an error,
 * print a message and return false.
 */
bool sql_run(struct sql_database *database, const char *statements, bool is_single, struct text *text,
	     enum format format);

/*
 * Copy all tables into a new database in this file.  No statement can be run after it.  After a failure, print a
 * message and return false; the file is then incomplete.
 */
bool sql_copy(struct sql_database *database, const char *path);

/*
 * Prompt for statements and run them, until the end of the input.  Without a terminal, read statements from standard
 * input.  Return false if a statement failed, and there is no terminal.
 */
bool sql_prompt(struct sql_database *database, struct text *text, enum format format);

/* Print the rows of a statement, output.c.  Return the last code of sqlite3_step(). */
int sql_print_rows(sqlite3_stmt *statement, struct text *text, enum format format);

#endif
