/* SPDX-License-Identifier: MIT */
#include "sql/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/unsigned.h"

#define EVENTS 1e7   /* for SQLite's choice of a plan: rows of a table with a row for each event */
#define ROWS 1e4     /* and of another table */

struct table {
	sqlite3_vtab base; /* must be the first member */
	struct sql_database *database;
	const struct sql_table *table;
};

char *sql_table_declaration(const struct sql_table *table, const char *name, bool is_copy)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendf(text, "CREATE TABLE %s(", name);
	for (const struct sql_column *at = table->columns; at->name; at++) {
		sqlite3_str_appendf(text, "%s\"%w\"", at == table->columns ? "" : ", ", at->name);
		if (*at->type)
			sqlite3_str_appendf(text, " %s", at->type);
		if (at->role == ROLE_UNSIGNED && !is_copy)
			sqlite3_str_appendall(text, " COLLATE " SQL_UINT);
	}
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

static int connect_table(sqlite3 *sqlite, void *argument, int argc, const char *const *argv, sqlite3_vtab **vtab,
			 char **error)
{
	const struct table *known = argument;
	char *declaration = sql_table_declaration(known->table, "x", false);
	struct table *table = sqlite3_malloc(sizeof(*table));
	int code = SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)error;
	known->database->is_declaring = true;
	if (declaration && table)
		code = sqlite3_declare_vtab(sqlite, declaration);
	known->database->is_declaring = false;
	sqlite3_free(declaration);
	if (code != SQLITE_OK) {
		sqlite3_free(table);
		return code;
	}
	*table = *known;
	*vtab = &table->base;
	sqlite3_vtab_config(sqlite, SQLITE_VTAB_INNOCUOUS);
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* Plans. */

/* Return whether the cursor wants to see the value: values of this role are compared as the bounds do it. */
static bool takes(sqlite3_index_info *info, int i, enum sql_role role)
{
	switch (info->aConstraint[i].op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return role != ROLE_NONE && role != ROLE_NUMBER &&
		       ((role != ROLE_EVENT && role != ROLE_THREAD) ||
			strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0);
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return role == ROLE_NS || role == ROLE_TIME || role == ROLE_UNSIGNED;
	case SQLITE_INDEX_CONSTRAINT_NE:
	case SQLITE_INDEX_CONSTRAINT_IS:
		return role == ROLE_UNSIGNED;
	default:
		return false;
	}
}

/*
 * Choose the constraints that a cursor gets.  idxStr has two characters for each of them: the role and the operator.
 * idxNum has a bit for each of the first 30 columns that the query uses, and bit 30 for all others.
 */
static int choose_plan(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct table *table = (struct table *)vtab;
	sqlite3_str *plan = sqlite3_str_new(NULL);
	double rows = table->table->is_long ? EVENTS : ROWS;
	bool has_from = false, has_until = false;
	int nr = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn, op = info->aConstraint[i].op;
		enum sql_role role = column >= 0 ? table->table->columns[column].role : ROLE_NONE;
		bool is_list;

		if (!info->aConstraint[i].usable || !takes(info, i, role))
			continue;
		info->aConstraintUsage[i].argvIndex = ++nr;
		/* Take a list of values at once.  Otherwise SQLite would read the table once for each of them. */
		is_list = sqlite3_vtab_in(info, i, 1);
		sqlite3_str_appendchar(plan, 1, (char)('A' + (int)role));
		sqlite3_str_appendchar(plan, 1, is_list				   ? SQL_IN :
						op == SQLITE_INDEX_CONSTRAINT_EQ   ? SQL_EQUAL :
						op == SQLITE_INDEX_CONSTRAINT_GT ||
						op == SQLITE_INDEX_CONSTRAINT_GE ? SQL_MORE :
										     SQL_LESS);
		if (role == ROLE_UNSIGNED)
			continue; /* the value is only checked */
		if (op != SQLITE_INDEX_CONSTRAINT_EQ) {
			has_from |= op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
			has_until |= op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
		} else {
			rows /= is_list || role == ROLE_FILE ? 2 : role == ROLE_NS || role == ROLE_TIME ? 1000 : 10;
		}
	}
	rows /= (has_from ? 4 : 1) * (has_until ? 4 : 1);
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = rows;
	info->idxNum = (int)(info->colUsed & 0x3FFFFFFF) | (info->colUsed >> 30 ? 1 << 30 : 0);
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	/* The events of a file come in the order of their numbers. */
	info->orderByConsumed = table->database->nr_files == 1 && table->table->is_long && info->nOrderBy == 1 &&
				!info->aOrderBy[0].desc && info->aOrderBy[0].iColumn >= 0 &&
				table->table->columns[info->aOrderBy[0].iColumn].role == ROLE_NUMBER;
	return SQLITE_OK;
}

/* Cursors. */

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **to)
{
	const struct table *table = (struct table *)vtab;
	struct sql_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	cursor->database = table->database;
	cursor->table = table->table;
	*to = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	if (cursor->table->close)
		cursor->table->close(cursor);
	sql_bounds_free(&cursor->bounds);
	free(cursor);
	return SQLITE_OK;
}

/* Go to the next file of which the query wants rows. */
static int next_file(struct sql_cursor *cursor)
{
	struct sql_database *database = cursor->database;

	while (cursor->next_file < database->nr_files) {
		cursor->file = &database->file[cursor->next_file++];
		if (!sql_set_has_number(&cursor->bounds.file, cursor->file->number))
			continue;
		cursor->row = UINT64_MAX;
		return cursor->table->begin(cursor);
	}
	cursor->file = NULL;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	int code = SQLITE_OK;

	cursor->rowid++;
	while (cursor->file && code == SQLITE_OK) {
		if (cursor->row == UINT64_MAX)
			cursor->row = 0;
		else
			cursor->row++;
		if (cursor->table->next(cursor))
			break;
		code = next_file(cursor);
	}
	return code;
}

static int refuse(sqlite3_vtab *vtab, const char *fault)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", fault);
	return SQLITE_ERROR;
}

static int begin_rows(sqlite3_vtab_cursor *base, int columns, const char *plan, int argc, sqlite3_value **argv)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const char *fault = NULL;
	int code;

	sql_bounds_free(&cursor->bounds);
	sql_bounds_begin(&cursor->bounds);
	cursor->columns = (uint64_t)columns;
	cursor->next_file = 0;
	cursor->rowid = 0;
	for (int i = 0; i < argc && !fault; i++) {
		enum sql_role role = (enum sql_role)(plan[2 * i] - 'A');

		if (role == ROLE_UNSIGNED)
			fault = sql_unsigned_fault(plan[2 * i + 1], argv[i]);
		else
			sql_bounds_add(&cursor->bounds, role, plan[2 * i + 1], argv[i]);
	}
	if (fault)
		return refuse(base->pVtab, fault);
	code = next_file(cursor);
	return code == SQLITE_OK ? next_row(base) : code;
}

static int is_over(sqlite3_vtab_cursor *base)
{
	return !((struct sql_cursor *)base)->file;
}

static void get_cell(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	cell->kind = CELL_NULL;
	if (cursor->table->columns[column].role == ROLE_FILE)
		sql_put_integer(cell, cursor->file->number);
	else
		cursor->table->value(cursor, cell, column);
}

static int get_value(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
	struct sql_cell cell;

	get_cell((struct sql_cursor *)base, &cell, column);
	if (cell.kind == CELL_TEXT || cell.kind == CELL_UNSIGNED)
		sqlite3_result_text64(result, cell.text, cell.length, SQLITE_TRANSIENT, SQLITE_UTF8);
	else if (cell.kind == CELL_BYTES)
		sqlite3_result_blob64(result, cell.text, cell.length, SQLITE_TRANSIENT);
	else if (cell.kind == CELL_INTEGER)
		sqlite3_result_int64(result, cell.integer);
	else if (cell.kind == CELL_REAL)
		sqlite3_result_double(result, cell.real);
	return SQLITE_OK;
}

static int get_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)((struct sql_cursor *)base)->rowid;
	return SQLITE_OK;
}

/* Without xCreate, the tables are there without a statement that creates them. */
static const sqlite3_module module = {
	.iVersion = 0,
	.xConnect = connect_table,
	.xBestIndex = choose_plan,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = begin_rows,
	.xNext = next_row,
	.xEof = is_over,
	.xColumn = get_value,
	.xRowid = get_rowid,
};

/* Rows without SQLite. */

static int read_rows(struct sql_cursor *cursor, struct sql_cell *cells, size_t nr_cells, sql_table_row *row,
		     void *argument)
{
	int code = begin_rows(&cursor->base, ~0, "", 0, NULL);

	while (code == SQLITE_OK && cursor->file) {
		for (size_t i = 0; i < nr_cells; i++)
			get_cell(cursor, &cells[i], (int)i);
		code = row(argument, cells, nr_cells);
		if (code == SQLITE_OK)
			code = next_row(&cursor->base);
	}
	return code;
}

int sql_table_each(struct sql_database *database, const struct sql_table *table, sql_table_row *row, void *argument)
{
	const struct table known = {.database = database, .table = table};
	sqlite3_vtab_cursor *base = NULL;
	struct sql_cell *cells;
	size_t nr_cells = 0;
	int code = open_cursor((sqlite3_vtab *)(uintptr_t)&known.base, &base);

	if (code != SQLITE_OK)
		return code;
	while (table->columns[nr_cells].name)
		nr_cells++;
	cells = must(calloc(nr_cells, sizeof(*cells)));
	code = read_rows((struct sql_cursor *)base, cells, nr_cells, row, argument);
	close_cursor(base);
	free(cells);
	return code;
}

int sql_table_add(struct sql_database *database, const struct sql_table *table)
{
	struct table *known = must(calloc(1, sizeof(*known)));

	known->database = database;
	known->table = table;
	return sqlite3_create_module_v2(database->sqlite, table->name, &module, known, free);
}
