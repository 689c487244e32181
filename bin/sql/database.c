/* SPDX-License-Identifier: MIT */
#include "sql/database.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "sql/functions.h"
#include "sql/slices.h"
#include "sql/typed.h"
#include "sql/unsigned.h"
#include "trace/payload.h"

static const struct sql_table *const tables[] = {
	&sql_events, &sql_threads, &sql_objects, &sql_types,   &sql_waits,
	&sql_holds,  &sql_states,  &sql_spans,	 &sql_modules, &sql_files};

#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

/*
 * SQLite calls this for each action of a statement while it prepares the statement.  When SQLite uses a table for the
 * first time, it asks for the right to create it.
 */
static int authorize(void *argument, int action, const char *one, const char *other, const char *database_name,
		     const char *trigger)
{
	struct sql_database *database = argument;

	(void)one;
	(void)other;
	(void)database_name;
	(void)trigger;
	if (database->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	default:
		database->is_refused = true;
		return SQLITE_DENY;
	}
}

static void list_tables(struct sql_database *database)
{
	size_t nr = 0;

	sql_typed_make(database);
	database->table = must(calloc(NR_TABLES + database->nr_typed + 1, sizeof(struct sql_table *)));
	for (size_t i = 0; i < NR_TABLES; i++)
		database->table[nr++] = tables[i];
	for (size_t i = 0; i < database->nr_typed; i++)
		database->table[nr++] = sql_typed_table(database->typed[i]);
}

static int add_slices(sqlite3 *sqlite)
{
	char *query = sql_slices_query("", "NULL");
	char *statement = query ? sqlite3_mprintf("CREATE VIEW " SQL_SLICES " AS %s", query) : NULL;
	int code = statement ? sqlite3_exec(sqlite, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(query);
	sqlite3_free(statement);
	return code;
}

static bool make_database(struct sql_database *database)
{
	int code = sqlite3_open_v2(":memory:", &database->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (code == SQLITE_OK)
		code = sql_functions_add(database->sqlite);
	for (const struct sql_table **at = database->table; *at && code == SQLITE_OK; at++)
		code = sql_table_add(database, *at);
	if (code == SQLITE_OK)
		code = add_slices(database->sqlite);
	if (code == SQLITE_OK)
		code = sqlite3_set_authorizer(database->sqlite, authorize, database);
	if (code != SQLITE_OK)
		message("SQLite: %s", sqlite3_errstr(code));
	return code == SQLITE_OK;
}

bool sql_open(struct sql_database *database, char *const *paths, unsigned int nr_paths,
	      const struct selection *selection, const struct spans *spans, bool is_quiet)
{
	*database = (struct sql_database){.file = must(calloc(nr_paths, sizeof(*database->file)))};
	for (unsigned int i = 0; i < nr_paths; i++) {
		struct sql_file *file = &database->file[i];
		bool is_open = sql_file_open(file, paths[i], selection, spans, is_quiet);

		file->number = i + 1;
		database->nr_files++;
		if (!is_open)
			return false;
	}
	if (!is_quiet)
		payload_report_unused();
	list_tables(database);
	return make_database(database);
}

void sql_close(struct sql_database *database)
{
	sqlite3_close(database->sqlite);
	sql_typed_free(database);
	free(database->table);
	for (unsigned int i = 0; i < database->nr_files; i++)
		sql_file_close(&database->file[i]);
	free(database->file);
}

static bool fail(const struct sql_database *database)
{
	if (database->is_refused)
		message("SQL: %s: the tables can only be read; use SELECT", sqlite3_errmsg(database->sqlite));
	else
		message("SQL: %s", sqlite3_errmsg(database->sqlite));
	return false;
}

/* Return true if a text has no statement: only blanks, semicolons and comments. */
static bool is_blank(struct sql_database *database, const char *text)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = text;
	bool is_empty = true;

	while (is_empty && *rest) {
		is_empty = sqlite3_prepare_v2(database->sqlite, rest, -1, &statement, &rest) == SQLITE_OK && !statement;
		sqlite3_finalize(statement);
	}
	return is_empty;
}

bool sql_run(struct sql_database *database, const char *statements, bool is_single, struct text *text,
	     enum format format)
{
	const char *rest = statements, *number;
	size_t length;

	if (is_single && is_blank(database, statements)) {
		message("SQL: there is no statement in \"%s\"", statements);
		return false;
	}
	number = sql_unsigned_find(statements, &length);
	if (number) {
		message("SQL: %.*s: SQLite has no exact numbers from 2^63 on; for an unsigned field, put the digits "
			"into quotes",
			(int)(length < 40 ? length : 40), number);
		return false;
	}
	while (*rest) {
		sqlite3_stmt *statement;
		int code;

		database->is_refused = false;
		if (sqlite3_prepare_v2(database->sqlite, rest, -1, &statement, &rest) != SQLITE_OK)
			return fail(database);
		if (!statement)
			continue; /* a comment, or an empty statement */
		if (is_single && !is_blank(database, rest)) {
			sqlite3_finalize(statement);
			message("SQL: this takes one statement, not several");
			return false;
		}
		code = sql_print_rows(statement, text, format);
		if (code != SQLITE_DONE && !text->error)
			fail(database);
		sqlite3_finalize(statement);
		if (code != SQLITE_DONE)
			return false;
	}
	return true;
}
