/* SPDX-License-Identifier: MIT */
/* Copies the tables into a database in a file. */
#include <string.h>

#include "base/message.h"
#include "sql/database.h"
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
	int code = name ? run(database, sql_table_declaration(table, name)) : SQLITE_NOMEM;

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
		code = sql_typed_copy(database);
	for (size_t i = 0; i < nr_tables && code == SQLITE_OK; i++)
		code = make_indexes(database, database->table[i]);
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
