/* SPDX-License-Identifier: MIT */
/*
 * Virtual tables of SQLite over the files.  SQLite calls the module in table.c.  Each table has a struct sql_table,
 * which says what its columns are and gives the values.
 *
 * SQLite passes constraints such as "ns >= 5" to the module.  A column whose role is not ROLE_NONE makes use of them:
 * the cursor then has bounds, and the table need not return rows that are outside of them.  SQLite tests all
 * constraints again, so a table may return more rows than the bounds allow, but never fewer.
 */
#ifndef TXTRACE_SQL_TABLE_H
#define TXTRACE_SQL_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "sql/bounds.h"
#include "sql/cell.h"
#include "sql/files.h"

struct sql_typed;

struct sql_database {
	sqlite3 *sqlite;
	struct sql_file *file;
	unsigned int nr_files;
	const struct sql_table **table; /* all tables; the last element is NULL */
	struct sql_typed **typed;	/* those of them that typed.c has made */
	size_t nr_typed;
	bool is_refused;   /* the last statement would have written something */
	bool is_declaring; /* SQLite learns the columns of a table */
};

struct sql_column {
	const char *name;
	const char *type; /* INTEGER, REAL, TEXT or BLOB; "": values of several types */
	enum sql_role role;
	const char *index; /* not NULL: export gives the column an index */
};

struct sql_cursor {
	sqlite3_vtab_cursor base; /* must be the first member */
	struct sql_database *database;
	const struct sql_table *table;
	struct sql_bounds bounds;
	uint64_t columns;  /* a bit for each column that the query uses; bit 63: and those after it */
	struct sql_file *file; /* NULL after the last row */
	unsigned int next_file;
	uint64_t row;	   /* number of the row in its file */
	uint64_t rowid;
	void *state;	   /* of the table */
};

struct sql_table {
	const char *name;
	const char *summary; /* one sentence without a full stop */
	const struct sql_column *columns; /* a column without a name ends the list */
	bool is_long; /* the table has a row for each event */
	/* Begin with the rows of cursor->file.  The next call is next().  Return a code of SQLite. */
	int (*begin)(struct sql_cursor *cursor);
	/* Go to the next row, of number cursor->row.  Return false after the last row of the file. */
	bool (*next)(struct sql_cursor *cursor);
	/*
	 * Put the value of a column in the current row into *cell, which is NULL before the call.  It is valid until
	 * the next row.
	 */
	void (*value)(struct sql_cursor *cursor, struct sql_cell *cell, int column);
	void (*close)(struct sql_cursor *cursor); /* free the state; may be NULL */
};

extern const struct sql_table sql_events, sql_threads, sql_objects, sql_types, sql_waits, sql_holds, sql_states,
	sql_spans, sql_modules, sql_files;

/* Make the table known to the database.  Return a code of SQLite. */
int sql_table_add(struct sql_database *database, const struct sql_table *table);

/*
 * Return the statement that declares a table of this name with these columns.  The caller calls sqlite3_free().
 * is_copy: the table is for other programs, which do not have the collation of unsigned.h.
 */
char *sql_table_declaration(const struct sql_table *table, const char *name, bool is_copy);

/* Put the seconds from the first event of the file. */
static inline void sql_put_time(struct sql_cell *cell, const struct sql_file *file, int64_t time_ns)
{
	sql_put_real(cell, (double)(time_ns - file->first_ns) / NS_PER_S);
}

/*
 * Take a row of a table with nr_cells columns.  `cells` is valid during the call.  Return a code of SQLite; a code
 * other than SQLITE_OK ends sql_table_each().
 */
typedef int sql_table_row(void *argument, const struct sql_cell *cells, size_t nr_cells);

/* Call row() for each row of a table, without SQLite between them.  Return a code of SQLite. */
int sql_table_each(struct sql_database *database, const struct sql_table *table, sql_table_row *row, void *argument);

#endif
