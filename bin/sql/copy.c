/* SPDX-License-Identifier: MIT */
/* Copies the tables into a database in a file. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "sql/database.h"
#include "sql/slices.h"
#include "sql/typed.h"

static int run(struct sql_database *database, char *statement)
{
	int code = statement ? sqlite3_exec(database->sqlite, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return code;
}

static int declare(struct sql_database *database, const struct sql_table *table)
{
	char *name = sqlite3_mprintf("copy.%s", table->name);
	int code = name ? run(database, sql_table_declaration(table, name, true)) : SQLITE_NOMEM;

	sqlite3_free(name);
	return code;
}

static int make_indexes(struct sql_database *database, const struct sql_table *table)
{
	int code = SQLITE_OK;

	for (const struct sql_column *at = table->columns; at->name && code == SQLITE_OK; at++)
		if (at->index)
			code = run(database, sqlite3_mprintf("CREATE INDEX copy.%s_%s ON %s(%s)", table->name, at->name,
							     table->name, at->name));
	return code;
}

/* The rows of the tables of described types. */

struct typed_copy {
	struct sql_database *database;
	sqlite3_stmt **insert; /* for each of these tables; NULL before its first row */
};

static int prepare(struct sql_database *database, const struct sql_table *table, size_t nr_columns,
		   sqlite3_stmt **statement)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	char *insert;
	int code;

	sqlite3_str_appendf(text, "INSERT INTO copy.%s VALUES (?", table->name);
	for (size_t i = 1; i < nr_columns; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	insert = sqlite3_str_finish(text);
	code = insert ? sqlite3_prepare_v2(database->sqlite, insert, -1, statement, NULL) : SQLITE_NOMEM;
	sqlite3_free(insert);
	return code;
}

static int bind(sqlite3_stmt *statement, int column, const struct sql_cell *cell)
{
	switch (cell->kind) {
	case CELL_TEXT:
	case CELL_UNSIGNED:
		return sqlite3_bind_text64(statement, column, cell->text, cell->length, SQLITE_TRANSIENT, SQLITE_UTF8);
	case CELL_INTEGER:
		return sqlite3_bind_int64(statement, column, cell->integer);
	case CELL_REAL:
		return sqlite3_bind_double(statement, column, cell->real);
	default:
		return sqlite3_bind_null(statement, column);
	}
}

static int insert_row(void *argument, size_t index, const struct sql_cell *cells, size_t nr_cells)
{
	struct typed_copy *copy = argument;
	int code = SQLITE_OK;

	if (!copy->insert[index])
		code = prepare(copy->database, sql_typed_table(copy->database->typed[index]), nr_cells,
			       &copy->insert[index]);
	for (size_t i = 0; i < nr_cells && code == SQLITE_OK; i++)
		code = bind(copy->insert[index], (int)i + 1, &cells[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(copy->insert[index]);
	return code == SQLITE_DONE ? sqlite3_reset(copy->insert[index]) : code;
}

static int copy_typed(struct sql_database *database)
{
	struct typed_copy copy = {.database = database,
				  .insert = must(calloc(database->nr_typed + 1, sizeof(sqlite3_stmt *)))};
	int code = sql_typed_each(database, insert_row, &copy);

	for (size_t i = 0; i < database->nr_typed; i++)
		sqlite3_finalize(copy.insert[i]);
	free(copy.insert);
	return code;
}

static int make_slices(struct sql_database *database)
{
	char *query = sql_slices_query("", "NULL");
	int code = query ? run(database, sqlite3_mprintf("CREATE VIEW copy." SQL_SLICES " AS %s", query)) :
			   SQLITE_NOMEM;

	sqlite3_free(query);
	return code;
}

static int copy_tables(struct sql_database *database)
{
	size_t nr_tables = 0;
	int code = SQLITE_OK;

	while (database->table[nr_tables])
		nr_tables++;
	for (size_t i = 0; i < nr_tables && code == SQLITE_OK; i++)
		code = declare(database, database->table[i]);
	for (size_t i = 0; i < nr_tables - database->nr_typed && code == SQLITE_OK; i++)
		code = run(database,
			   sqlite3_mprintf("INSERT INTO copy.%s SELECT * FROM main.%s",
					   database->table[i]->name, database->table[i]->name));
	if (code == SQLITE_OK)
		code = copy_typed(database);
	for (size_t i = 0; i < nr_tables && code == SQLITE_OK; i++)
		code = make_indexes(database, database->table[i]);
	if (code == SQLITE_OK)
		code = make_slices(database);
	return code;
}

bool sql_copy(struct sql_database *database, const char *path)
{
	int code;

	sqlite3_set_authorizer(database->sqlite, NULL, NULL);
	code = run(database, sqlite3_mprintf("ATTACH %Q AS copy", path));
	/* If the copy fails, the caller removes the file, so no journal is needed. */
	if (code == SQLITE_OK)
		code = run(database, sqlite3_mprintf("PRAGMA copy.journal_mode = OFF; PRAGMA copy.synchronous = OFF;"
						     "PRAGMA copy.cache_size = -65536; BEGIN"));
	if (code == SQLITE_OK)
		code = copy_tables(database);
	if (code == SQLITE_OK)
		code = run(database, sqlite3_mprintf("COMMIT; DETACH copy"));
	if (code == SQLITE_OK)
		return true;
	message("%s: %s", path, sqlite3_errmsg(database->sqlite));
	return false;
}
