/* SPDX-License-Identifier: MIT */
/*
 * export --to clickhouse: a directory with the tables of txtrace sql, and a script that loads them into ClickHouse.
 *
 *	schema.sql	the statements that create the tables, one in each line
 *	TABLE.columns	the names and types of the columns
 *	TABLE.rowbinary	the rows, if there are any
 *	file		the number of this trace
 *	load.sh
 *
 * A server has the tables of many traces.  So each row begins with the day of the trace, by which old traces are
 * dropped, and `file` is not 1, but a number made from what tells this trace from others.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "cli/options.h"
#include "export/clickhouse/load.h"
#include "export/directory.h"
#include "export/rowbinary.h"
#include "sql/database.h"
#include "sql/slices.h"
#include "sql/typed.h"

#define NS_PER_DAY (86400 * NS_PER_S)
#define DAYS_MAX 49709 /* the last one that each ClickHouse has in a Date: 2106-02-06 */

/* The columns by which ClickHouse sorts the rows.  They are never NULL. */
static const struct {
	const char *table;
	const char *columns[3];
} keys[] = {
	{"events", {"file", "ns", "number"}},
	{"threads", {"file", "context"}},
	{"objects", {"file", "handle"}},
	{"types", {"file", "type"}},
	{"waits", {"file", "ns", "number"}},
	{"holds", {"file"}},
	{"states", {"file", "ns"}},
	{"spans", {"file", "ns", "number"}},
	{"modules", {"file"}},
	{"files", {"file"}},
	{NULL, {"file", "ns", "number"}}, /* tables of described types */
};

enum kind { KIND_INTEGER, KIND_UNSIGNED, KIND_REAL, KIND_TEXT };

struct column {
	const char *name;
	enum kind kind;
	bool is_key;
};

struct table {
	const struct sql_table *of;
	const char *name;
	struct column *column;
	size_t nr_columns;
	struct rowbinary rows;
};

struct clickhouse {
	struct export *export;
	const char *path; /* of the directory */
	struct sql_database database;
	struct table *table; /* as database.table */
	size_t nr_tables;
	struct table *current; /* the rows are of this table */
	uint64_t file;
	uint16_t day;
};

/* Columns. */

static const char *const *key_of(const char *table)
{
	size_t i = 0;

	while (keys[i].table && strcmp(keys[i].table, table) != 0)
		i++;
	return keys[i].columns;
}

static bool is_key(const char *const *key, const char *name)
{
	for (size_t i = 0; i < 3 && key[i]; i++)
		if (strcmp(key[i], name) == 0)
			return true;
	return false;
}

static enum kind kind_of(const struct sql_column *column)
{
	if (column->role == ROLE_UNSIGNED)
		return KIND_UNSIGNED;
	return strcmp(column->type, "INTEGER") == 0 ? KIND_INTEGER :
	       strcmp(column->type, "REAL") == 0    ? KIND_REAL :
						      KIND_TEXT;
}

static void list_columns(struct clickhouse *house, size_t index)
{
	size_t nr_fixed = house->nr_tables - house->database.nr_typed;
	struct table *table = &house->table[index];
	const char *const *key;

	table->of = house->database.table[index];
	table->name = index < nr_fixed ? table->of->name : sql_typed_name(house->database.typed[index - nr_fixed]);
	key = key_of(table->name);
	while (table->of->columns[table->nr_columns].name)
		table->nr_columns++;
	table->column = must(calloc(table->nr_columns, sizeof(*table->column)));
	for (size_t i = 0; i < table->nr_columns; i++)
		table->column[i] = (struct column){.name = table->of->columns[i].name,
						   .kind = kind_of(&table->of->columns[i]),
						   .is_key = is_key(key, table->of->columns[i].name)};
}

/* Names are equal only if the hashes of two events are.  Their rows would get mixed. */
static bool has_clash(const struct clickhouse *house)
{
	for (size_t i = 0; i < house->nr_tables; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(house->table[i].name, house->table[k].name) == 0) {
				message("%s: two event types have the same table: %s", house->export->source->path,
					house->table[i].name);
				return true;
			}
	return false;
}

/* The type of ClickHouse.  The first column, the number of the file, is not signed. */
static const char *type_of(const struct column *column)
{
	static const char *const names[] = {[KIND_INTEGER] = "Int64",
					    [KIND_UNSIGNED] = "UInt64",
					    [KIND_REAL] = "Float64",
					    [KIND_TEXT] = "String"};
	static const char *const nullable[] = {[KIND_INTEGER] = "Nullable(Int64)",
					       [KIND_UNSIGNED] = "Nullable(UInt64)",
					       [KIND_REAL] = "Nullable(Float64)",
					       [KIND_TEXT] = "Nullable(String)"};

	if (strcmp(column->name, "file") == 0)
		return "UInt64";
	return column->is_key ? names[column->kind] : nullable[column->kind];
}

/* Files of the directory. */

static bool open_part(const struct clickhouse *house, struct text *text, const char *name, const char *suffix)
{
	char *path;
	bool is_fine;

	if (asprintf(&path, "%s/%s%s", house->path, name, suffix) < 0)
		path = must(NULL);
	is_fine = text_open(text, path, false);
	free(path);
	return is_fine;
}

static void put_create(const struct table *table, bool has_host, struct text *text)
{
	const char *const *key = key_of(table->name);

	text_printf(text, "CREATE TABLE IF NOT EXISTS %s (day Date", table->name);
	for (size_t i = 0; i < table->nr_columns; i++)
		text_printf(text, ", `%s` %s", table->column[i].name, type_of(&table->column[i]));
	if (has_host)
		text_string(text, ", host Nullable(String)");
	text_string(text, ") ENGINE = MergeTree PARTITION BY day ORDER BY (");
	for (size_t i = 0; i < 3 && key[i]; i++)
		text_printf(text, "%s%s", i > 0 ? ", " : "", key[i]);
	text_string(text, ");\n");
}

static bool write_schema(const struct clickhouse *house, struct text *text)
{
	char *slices;

	if (!open_part(house, text, "schema.sql", ""))
		return false;
	for (size_t i = 0; i < house->nr_tables; i++)
		put_create(&house->table[i], house->table[i].of == &sql_files, text);
	slices = sql_slices_query("day, ", "CAST(NULL AS Nullable(String))");
	text_printf(text, "CREATE VIEW IF NOT EXISTS " SQL_SLICES " AS %s;\n", (const char *)must(slices));
	sqlite3_free(slices);
	return text_close(text, true);
}

static bool write_columns(const struct clickhouse *house, struct text *text)
{
	for (size_t i = 0; i < house->nr_tables; i++) {
		const struct table *table = &house->table[i];

		if (!open_part(house, text, table->name, ".columns"))
			return false;
		text_string(text, "day\tDate\n");
		for (size_t k = 0; k < table->nr_columns; k++)
			text_printf(text, "%s\t%s\n", table->column[k].name, type_of(&table->column[k]));
		if (table->of == &sql_files)
			text_string(text, "host\tNullable(String)\n");
		if (!text_close(text, true))
			return false;
	}
	return true;
}

static bool write_number(const struct clickhouse *house, struct text *text)
{
	if (!open_part(house, text, "file", ""))
		return false;
	text_printf(text, "%llu\n", (unsigned long long)house->file);
	return text_close(text, true);
}

static bool write_script(const struct clickhouse *house)
{
	char *path;
	int fd, error;

	if (asprintf(&path, "%s/%s", house->path, "load.sh") < 0)
		path = must(NULL);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	error = fd < 0 ? errno : write_all(fd, clickhouse_load, clickhouse_load_size);
	if (fd >= 0 && close(fd) != 0 && error == 0)
		error = errno;
	if (error != 0)
		message_error(error, "%s", path);
	free(path);
	return error == 0;
}

/* Rows. */

static struct rowbinary *begin_row(struct clickhouse *house, struct table *table)
{
	char *path;

	if (!table->rows.path) {
		if (asprintf(&path, "%s/%s.rowbinary", house->path, table->name) < 0)
			path = must(NULL);
		rowbinary_begin(&table->rows, path);
	}
	rowbinary_u16(&table->rows, house->day);
	rowbinary_u64(&table->rows, house->file); /* the first column */
	return &table->rows;
}

/* SQLite has no NaN: in its tables it is NULL. */
static bool is_null(const struct sql_cell *cell)
{
	return cell->kind == CELL_NULL || (cell->kind == CELL_REAL && isnan(cell->real));
}

static void put_cell(struct rowbinary *rows, const struct column *column, const struct sql_cell *cell)
{
	char digits[32];

	if (!column->is_key)
		rowbinary_null(rows, is_null(cell));
	if (is_null(cell))
		return;
	if (column->kind == KIND_REAL) {
		rowbinary_real(rows, cell->kind == CELL_REAL ? cell->real : (double)cell->integer);
	} else if (column->kind != KIND_TEXT) {
		rowbinary_u64(rows, (uint64_t)cell->integer);
	} else if (cell->kind == CELL_INTEGER) { /* a number that the enum has no name for */
		snprintf(digits, sizeof(digits), "%lld", (long long)cell->integer);
		rowbinary_string(rows, digits, strlen(digits));
	} else {
		rowbinary_string(rows, cell->text, cell->length);
	}
}

static void put_host(const struct clickhouse *house, struct rowbinary *rows)
{
	const char *host = house->export->host;

	rowbinary_null(rows, !host);
	if (host)
		rowbinary_string(rows, host, strlen(host));
}

static void put_row(struct clickhouse *house, struct table *table, const struct sql_cell *cells, size_t nr_cells)
{
	struct rowbinary *rows = begin_row(house, table);

	for (size_t i = 1; i < nr_cells; i++)
		put_cell(rows, &table->column[i], &cells[i]);
	if (table->of == &sql_files)
		put_host(house, rows);
	rowbinary_end_row(rows);
}

static int put_table_row(void *argument, const struct sql_cell *cells, size_t nr_cells)
{
	struct clickhouse *house = argument;

	put_row(house, house->current, cells, nr_cells);
	return SQLITE_OK;
}

static int put_typed_row(void *argument, size_t index, const struct sql_cell *cells, size_t nr_cells)
{
	struct clickhouse *house = argument;

	put_row(house, &house->table[house->nr_tables - house->database.nr_typed + index], cells, nr_cells);
	return SQLITE_OK;
}

static bool write_rows(struct clickhouse *house)
{
	int code = SQLITE_OK;
	bool is_fine = true;

	for (size_t i = 0; i < house->nr_tables - house->database.nr_typed && code == SQLITE_OK; i++) {
		house->current = &house->table[i];
		code = sql_table_each(&house->database, house->current->of, put_table_row, house);
	}
	if (code == SQLITE_OK)
		code = sql_typed_each(&house->database, put_typed_row, house);
	if (code != SQLITE_OK)
		message("%s: %s", house->export->source->path, sqlite3_errstr(code));
	for (size_t i = 0; i < house->nr_tables; i++)
		if (house->table[i].rows.path && !rowbinary_end(&house->table[i].rows))
			is_fine = false;
	return is_fine && code == SQLITE_OK;
}

/* The directory. */

/* A trace buffer has no name and no date.  The name of its file tells nothing: many are called the same. */
static uint64_t hash_events(const struct clickhouse *house, struct sql_file *file)
{
	struct source *source = sql_file_take(file);
	uint64_t hash = 0;
	struct event event;

	while (source && selection_next(file->selection, source, &event)) {
		const uint64_t parts[] = {hash, (uint64_t)event.time_ns, event.type, event.context,
					  (uint64_t)event.priority, map_hash_bytes(event.data, event.size)};

		hash = map_hash_bytes(parts, sizeof(parts));
	}
	sql_file_give(file, source);
	for (size_t i = 0; i < house->export->source->nr_objects; i++)
		hash = (hash << 1 | hash >> 63) ^ map_hash(house->export->source->objects[i].name);
	return hash;
}

/*
 * Make a number that another trace almost never has, and the same trace always: from the name, times and number of
 * events of a log, or from all events of a trace buffer.
 */
static void identify(struct clickhouse *house)
{
	struct sql_file *file = &house->database.file[0];
	struct export *export = house->export;
	char name[TRACE_NAME_MAX + 1] = "";
	struct timespec created = {0};
	int64_t days;
	char *text;

	sql_file_count(file);
	if (file->info.foreign) {
		snprintf(name, sizeof(name), "%llx", (unsigned long long)hash_events(house, file));
	} else {
		posix_trace_attr_getname(&export->source->attr, name);
		posix_trace_attr_getcreatetime(&export->source->attr, &created);
	}
	if (asprintf(&text, "%s %lld.%ld %lld %lld %llu %llu", name, (long long)created.tv_sec, created.tv_nsec,
		     (long long)file->first_ns, (long long)file->last_ns, (unsigned long long)file->nr_events,
		     file->info.nr_entries) < 0)
		text = must(NULL);
	house->file = map_hash(text);
	free(text);
	days = file->has_event && file->first_ns > 0 ? file->first_ns / NS_PER_DAY : 0;
	house->day = (uint16_t)(days < DAYS_MAX ? days : DAYS_MAX);
}

static bool write_all_files(struct clickhouse *house)
{
	static struct text text;

	if (mkdir(house->path, 0777) != 0) {
		message_error(errno, "%s", house->path);
		return false;
	}
	while (house->database.table[house->nr_tables])
		house->nr_tables++;
	house->table = must(calloc(house->nr_tables, sizeof(*house->table)));
	for (size_t i = 0; i < house->nr_tables; i++)
		list_columns(house, i);
	if (has_clash(house))
		return false;
	identify(house);
	return write_schema(house, &text) && write_columns(house, &text) && write_number(house, &text) &&
	       write_script(house) && write_rows(house);
}

static bool run(struct export *export)
{
	struct clickhouse house = {.export = export};
	char *source = must(strdup(export->source->path));
	struct directory directory;
	bool is_fine;

	if (!directory_begin(&directory, export)) {
		free(source);
		return false;
	}
	house.path = directory.path;
	is_fine = sql_open(&house.database, &source, 1, export->selection, export->spans, true) &&
		  write_all_files(&house);
	for (size_t i = 0; i < house.nr_tables; i++)
		free(house.table[i].column);
	free(house.table);
	sql_close(&house.database);
	free(source);
	return directory_end(&directory, export, is_fine);
}

static const int options[] = {OPTION_SPAN, OPTION_HOST, 0};

const struct exporter exporter_clickhouse = {
	.name = "clickhouse",
	.suffix = ".clickhouse",
	.summary = "a directory with the tables of txtrace-sql(1), and a script that loads them",
	.options = options,
	.makes_output = true,
	.run = run,
};
