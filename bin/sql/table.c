/* SPDX-License-Identifier: MIT */
#include "sql/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define EVENTS 1e7   /* for SQLite's choice of a plan: rows of a table with a row for each event */
#define ROWS 1e4     /* and of another table */
#define SLACK_S 1e-6 /* seconds are rounded, so bounds are wider */

struct table {
	sqlite3_vtab base; /* must be the first member */
	struct sql_database *database;
	const struct sql_table *table;
};

void sql_result_text(sqlite3_context *result, const char *text)
{
	if (text && *text)
		sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

void sql_result_time(sqlite3_context *result, const struct sql_file *file, int64_t time_ns)
{
	sqlite3_result_double(result, (double)(time_ns - file->first_ns) / NS_PER_S);
}

char *sql_table_declaration(const struct sql_table *table, const char *name)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendf(text, "CREATE TABLE %s(", name);
	for (const struct sql_column *at = table->columns; at->name; at++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", at == table->columns ? "" : ", ", at->name, at->type);
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

static int connect_table(sqlite3 *sqlite, void *argument, int argc, const char *const *argv, sqlite3_vtab **vtab,
			 char **error)
{
	const struct table *known = argument;
	char *declaration = sql_table_declaration(known->table, "x");
	struct table *table = sqlite3_malloc(sizeof(*table));
	int code = declaration && table ? sqlite3_declare_vtab(sqlite, declaration) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)error;
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

/* Return whether the values of a column of this role are compared as the bounds do it. */
static bool takes(sqlite3_index_info *info, int i, enum sql_role role)
{
	switch (info->aConstraint[i].op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		/* If the query lists several values, SQLite would read the table once for each of them. */
		if (sqlite3_vtab_in(info, i, -1))
			return false;
		return role != ROLE_NONE && role != ROLE_NUMBER &&
		       ((role != ROLE_EVENT && role != ROLE_THREAD) ||
			strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0);
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return role == ROLE_NS || role == ROLE_TIME;
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

		if (!info->aConstraint[i].usable || !takes(info, i, role))
			continue;
		info->aConstraintUsage[i].argvIndex = ++nr;
		sqlite3_str_appendchar(plan, 1, (char)('A' + (int)role));
		sqlite3_str_appendchar(plan, 1, op == SQLITE_INDEX_CONSTRAINT_EQ   ? '=' :
						op == SQLITE_INDEX_CONSTRAINT_GT ||
						op == SQLITE_INDEX_CONSTRAINT_GE ? '>' :
										     '<');
		if (op != SQLITE_INDEX_CONSTRAINT_EQ) {
			has_from |= op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
			has_until |= op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
		} else {
			rows /= role == ROLE_NS || role == ROLE_TIME ? 1000 : role == ROLE_FILE ? 2 : 10;
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

static void free_bounds(struct sql_bounds *bounds)
{
	free(bounds->event);
	free(bounds->thread);
	bounds->event = bounds->thread = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	if (cursor->table->close)
		cursor->table->close(cursor);
	free_bounds(&cursor->bounds);
	free(cursor);
	return SQLITE_OK;
}

static int64_t to_integer(double value)
{
	return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

static void bound_ns(struct sql_bounds *bounds, char op, sqlite3_value *value)
{
	bool is_integer = sqlite3_value_numeric_type(value) == SQLITE_INTEGER;
	int64_t from_ns = is_integer ? sqlite3_value_int64(value) : to_integer(floor(sqlite3_value_double(value)));
	int64_t until_ns = is_integer ? from_ns : to_integer(ceil(sqlite3_value_double(value)));

	if (op != '<' && from_ns > bounds->from_ns)
		bounds->from_ns = from_ns;
	if (op != '>' && until_ns < bounds->until_ns)
		bounds->until_ns = until_ns;
}

static void bound_time(struct sql_bounds *bounds, char op, double seconds)
{
	if (op != '<' && seconds - SLACK_S > bounds->from_s)
		bounds->from_s = seconds - SLACK_S;
	if (op != '>' && seconds + SLACK_S < bounds->until_s)
		bounds->until_s = seconds + SLACK_S;
}

static void bound_text(char **text, sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_TEXT || *text)
		return;
	*text = must(strdup((const char *)sqlite3_value_text(value)));
}

/* Leave out what is no number for a column of numbers: SQLite then tests the rows. */
static void bound(struct sql_bounds *bounds, enum sql_role role, char op, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);
	bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;

	if (role == ROLE_EVENT)
		bound_text(&bounds->event, value);
	else if (role == ROLE_THREAD)
		bound_text(&bounds->thread, value);
	else if (role == ROLE_NS && is_number)
		bound_ns(bounds, op, value);
	else if (role == ROLE_TIME && is_number)
		bound_time(bounds, op, sqlite3_value_double(value));
	else if (type != SQLITE_INTEGER)
		return;
	else if (role == ROLE_FILE && sqlite3_value_int64(value) > 0 && sqlite3_value_int64(value) < UINT32_MAX)
		bounds->file = (unsigned int)sqlite3_value_int64(value);
	else if (role == ROLE_TYPE) {
		bounds->has_type = true;
		bounds->type = sqlite3_value_int64(value);
	} else if (role == ROLE_CONTEXT) {
		bounds->has_context = true;
		bounds->context = sqlite3_value_int64(value);
	}
}

/* Go to the next file of which the query wants rows. */
static int next_file(struct sql_cursor *cursor)
{
	struct sql_database *database = cursor->database;

	while (cursor->next_file < database->nr_files) {
		cursor->file = &database->file[cursor->next_file++];
		if (cursor->bounds.file != 0 && cursor->bounds.file != cursor->file->number)
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

static int begin_rows(sqlite3_vtab_cursor *base, int columns, const char *plan, int argc, sqlite3_value **argv)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	int code;

	free_bounds(&cursor->bounds);
	cursor->bounds = (struct sql_bounds){
		.from_ns = INT64_MIN, .until_ns = INT64_MAX, .from_s = -INFINITY, .until_s = INFINITY};
	cursor->columns = (uint64_t)columns;
	cursor->next_file = 0;
	cursor->rowid = 0;
	for (int i = 0; i < argc; i++)
		bound(&cursor->bounds, (enum sql_role)(plan[2 * i] - 'A'), plan[2 * i + 1], argv[i]);
	code = next_file(cursor);
	return code == SQLITE_OK ? next_row(base) : code;
}

static int is_over(sqlite3_vtab_cursor *base)
{
	return !((struct sql_cursor *)base)->file;
}

static int get_value(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	if (cursor->table->columns[column].role == ROLE_FILE)
		sqlite3_result_int64(result, cursor->file->number);
	else
		cursor->table->value(cursor, result, column);
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

int sql_table_add(struct sql_database *database, const struct sql_table *table)
{
	struct table *known = must(calloc(1, sizeof(*known)));

	known->database = database;
	known->table = table;
	return sqlite3_create_module_v2(database->sqlite, table->name, &module, known, free);
}
