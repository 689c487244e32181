/* SPDX-License-Identifier: MIT */
#include "sql/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "sql/reading.h"
#include "sql/unsigned.h"
#include "trace/payload.h"

#define NAME_BYTES 80
#define HASH_DIGITS 8

enum { FILE_NUMBER, NUMBER, NS, TIME, CPU, THREAD, CONTEXT, NR_FIXED };

static const struct sql_column fixed[NR_FIXED] = {
	[FILE_NUMBER] = {"file", "INTEGER", ROLE_FILE, NULL},
	[NUMBER] = {"number", "INTEGER", ROLE_NUMBER, NULL},
	[NS] = {"ns", "INTEGER", ROLE_NS, "ns"},
	[TIME] = {"time", "REAL", ROLE_TIME, NULL},
	[CPU] = {"cpu", "INTEGER", ROLE_NONE, NULL},
	[THREAD] = {"thread", "TEXT", ROLE_THREAD, NULL},
	[CONTEXT] = {"context", "INTEGER", ROLE_CONTEXT, NULL},
};

/* The type in one file.  The member `fields` is NULL if the file does not have it. */
struct typed_file {
	trace_event_id_t id;
	const struct px_fields *fields;
	struct px_field_place *place; /* index: column - NR_FIXED; a place without a field is not in this file */
};

struct sql_typed {
	struct sql_table table; /* must be the first member */
	char *event;
	char *own_name; /* of the table; see sql_typed_name() */
	struct sql_column *columns; /* with NR_FIXED columns at the beginning */
	char **path;		    /* of the other columns */
	size_t nr_paths;
	struct map by_path; /* key: hash of the path; value: 1 + index */
	struct typed_file *file; /* for each file of the database */
};

const struct sql_table *sql_typed_table(const struct sql_typed *typed)
{
	return &typed->table;
}

const char *sql_typed_name(const struct sql_typed *typed)
{
	return typed->own_name;
}

/* Names. */

struct making {
	struct sql_database *database;
	struct sql_file *file;
	struct map by_event; /* key: hash of the event's name; value: 1 + index in database->typed */
};

/* Letters do not depend on the locale, so that each machine makes the same names. */
static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_plain(char c)
{
	return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_capital(const char *text)
{
	while (*text && !is_capital(*text))
		text++;
	return *text != '\0';
}

/* Return true if a name ends as hashed_name() makes it. */
static bool ends_as_hashed(const char *name)
{
	size_t length = strlen(name);
	const char *end = length > HASH_DIGITS ? name + length - HASH_DIGITS : NULL;

	return end && end[-1] == '_' && strspn(end, "0123456789abcdef") == HASH_DIGITS;
}

/* Return false if the name is cut. */
static bool plain_name(const char *event, char name[NAME_BYTES])
{
	size_t length = (size_t)snprintf(name, NAME_BYTES, "type_%s", event);

	for (size_t i = 0; i < length && name[i]; i++)
		if (!is_plain(name[i]))
			name[i] = '_';
	return length < NAME_BYTES;
}

static char *hashed_name(const char *event)
{
	char name[NAME_BYTES];
	uint64_t hash = map_hash(event);
	char *hashed;

	plain_name(event, name);
	if (asprintf(&hashed, "%s_%0*x", name, HASH_DIGITS, (unsigned int)(hash ^ hash >> 32)) < 0)
		hashed = must(NULL);
	return hashed;
}

/*
 * Make the name of a table from the name of its event alone, so that it is the same for each trace.  No two events
 * have the same name, unless their hashes are equal.
 */
static char *own_name(const char *event)
{
	size_t length = 0;
	char *name;

	while (is_plain(event[length]))
		length++;
	if (length == 0 || event[length] || length + sizeof("type_") > NAME_BYTES || ends_as_hashed(event))
		return hashed_name(event);
	if (asprintf(&name, "type_%s", event) < 0)
		name = must(NULL);
	return name;
}

static uint64_t hash_lower(const char *name)
{
	char lower[NAME_BYTES + 32];
	size_t i = 0;

	for (; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)(is_capital(name[i]) ? name[i] - 'A' + 'a' : name[i]);
	lower[i] = '\0';
	return map_hash(lower);
}

/* The name without a hash, if it has room, and is none with a hash. */
static char *short_name(const struct sql_typed *typed)
{
	char name[NAME_BYTES];

	return must(strdup(plain_name(typed->event, name) && !ends_as_hashed(name) ? name : typed->own_name));
}

/*
 * Name a table for SQLite: without a hash if no other event of the database has that name.  SQLite does not tell apart
 * names that differ only in their case.  same: how many tables have the short name of this one in lower case.  names:
 * the names in lower case that tables have already.
 */
static void name_table(struct sql_typed *typed, char *short_name, uint64_t same, struct map *names)
{
	char *first = same == 1			 ? short_name :
		      has_capital(typed->event) ? hashed_name(typed->event) :
						  must(strdup(typed->own_name));
	char *name = must(strdup(first));

	for (unsigned int i = 2; map_find(names, hash_lower(name)); i++) {
		free(name);
		if (asprintf(&name, "%s_%u", first, i) < 0)
			name = must(NULL);
	}
	*map_get(names, hash_lower(name)) = 1;
	typed->table.name = name;
	if (first != short_name)
		free(short_name);
	free(first);
}

static void name_tables(struct sql_database *database)
{
	struct map same = {0}, names = {0};

	for (size_t i = 0; i < database->nr_typed; i++) {
		char *name = short_name(database->typed[i]);

		++*map_get(&same, hash_lower(name));
		free(name);
	}
	for (size_t i = 0; i < database->nr_typed; i++) {
		char *name = short_name(database->typed[i]);

		name_table(database->typed[i], name, map_find(&same, hash_lower(name)), &names);
	}
	map_free(&same);
	map_free(&names);
}

/* The column that a table of ClickHouse has in addition.  Both have the same names of fields. */
#define OTHER_COLUMN "day"

/* SQLite does not tell apart names that differ only in their case. */
static bool has_column(const struct sql_typed *typed, const char *name)
{
	if (strcasecmp(name, OTHER_COLUMN) == 0)
		return true;
	for (size_t i = 0; i < NR_FIXED + typed->nr_paths; i++)
		if (strcasecmp(typed->columns[i].name, name) == 0)
			return true;
	return false;
}

static char *column_name(const struct sql_typed *typed, const char *path)
{
	char *name = must(strdup(path));

	for (unsigned int i = 1; has_column(typed, name); i++) {
		free(name);
		if ((i == 1 ? asprintf(&name, "data.%s", path) : asprintf(&name, "data.%s_%u", path, i)) < 0)
			name = must(NULL);
	}
	return name;
}

/* Making. */

static const char *type_of(const struct px_field_place *place)
{
	switch (place->field->kind) {
	case PX_FIELD_FLOAT:
		return "REAL";
	case PX_FIELD_CHAR:
	case PX_FIELD_ENUM:
		return "TEXT";
	default:
		return "INTEGER";
	}
}

static bool is_unsigned(const struct px_field *field)
{
	return field->size == sizeof(uint64_t) &&
	       (field->kind == PX_FIELD_UNSIGNED || field->kind == PX_FIELD_POINTER);
}

static size_t add_path(struct sql_typed *typed, const char *path, const struct px_field_place *place)
{
	uint64_t *known = map_get(&typed->by_path, map_hash(path));
	size_t room = NR_FIXED + typed->nr_paths + 2;

	if (*known)
		return (size_t)*known - 1;
	typed->columns = must(reallocarray(typed->columns, room, sizeof(*typed->columns)));
	typed->path = must(reallocarray(typed->path, room, sizeof(*typed->path)));
	typed->columns[NR_FIXED + typed->nr_paths] =
		(struct sql_column){.name = column_name(typed, path), .type = type_of(place)};
	typed->path[typed->nr_paths] = must(strdup(path));
	typed->nr_paths++;
	typed->columns[NR_FIXED + typed->nr_paths] = (struct sql_column){0};
	*known = typed->nr_paths;
	return typed->nr_paths - 1;
}

static int begin(struct sql_cursor *cursor);
static bool next(struct sql_cursor *cursor);
static void value(struct sql_cursor *cursor, struct sql_cell *cell, int column);

static struct sql_typed *make_table(struct making *making, const char *event)
{
	struct sql_database *database = making->database;
	struct sql_typed *typed = must(calloc(1, sizeof(*typed)));
	char *summary;

	if (asprintf(&summary, "the events %s", event) < 0)
		summary = must(NULL);
	typed->event = must(strdup(event));
	typed->own_name = own_name(event);
	typed->columns = must(calloc(NR_FIXED + 1, sizeof(*typed->columns)));
	memcpy(typed->columns, fixed, sizeof(fixed));
	typed->file = must(calloc(database->nr_files, sizeof(*typed->file)));
	typed->table = (struct sql_table){.summary = summary,
					  .is_long = true,
					  .begin = begin,
					  .next = next,
					  .value = value,
					  .close = sql_reading_close};
	if ((database->nr_typed & (database->nr_typed - 1)) == 0)
		database->typed = must(reallocarray(database->typed, database->nr_typed ? 2 * database->nr_typed : 1,
						    sizeof(struct sql_typed *)));
	database->typed[database->nr_typed++] = typed;
	return typed;
}

/* Only user events have tables of their own. */
static void take_type(void *argument, trace_event_id_t type, const struct px_fields *fields)
{
	struct making *making = argument;
	struct sql_file *file = making->file;
	const struct payload_field *list;
	struct typed_file *in_file;
	struct sql_typed *typed;
	uint64_t *known;
	size_t nr;

	if (type <= POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	list = payload_list(file->source, type, &nr);
	known = map_get(&making->by_event, map_hash(source_type_name(file->source, type)));
	if (*known == 0) {
		make_table(making, source_type_name(file->source, type));
		*known = making->database->nr_typed;
	}
	typed = making->database->typed[*known - 1];
	in_file = &typed->file[file->number - 1];
	in_file->id = type;
	in_file->fields = fields;
	for (size_t i = 0; i < nr; i++) {
		size_t index = add_path(typed, list[i].path, &list[i].place);

		if (is_unsigned(list[i].place.field)) {
			typed->columns[NR_FIXED + index].type = "";
			typed->columns[NR_FIXED + index].role = ROLE_UNSIGNED;
		}
	}
}

/* Call this when the table has all columns. */
static void find_places(struct sql_database *database, struct sql_typed *typed)
{
	for (unsigned int i = 0; i < database->nr_files; i++) {
		struct px_field_place *place = must(calloc(typed->nr_paths + 1, sizeof(*place)));
		struct typed_file *file = &typed->file[i];
		const struct payload_field *list;
		size_t nr = 0;

		list = file->fields ? payload_list(database->file[i].source, file->id, &nr) : NULL;
		for (size_t k = 0; k < nr; k++)
			place[add_path(typed, list[k].path, &list[k].place)] = list[k].place;
		file->place = place;
	}
}

void sql_typed_make(struct sql_database *database)
{
	struct making making = {.database = database};

	for (unsigned int i = 0; i < database->nr_files; i++) {
		making.file = &database->file[i];
		payload_each_type(making.file->source, take_type, &making);
	}
	for (size_t i = 0; i < database->nr_typed; i++) {
		find_places(database, database->typed[i]);
		database->typed[i]->table.columns = database->typed[i]->columns;
	}
	name_tables(database);
	map_free(&making.by_event);
}

void sql_typed_free(struct sql_database *database)
{
	for (size_t i = 0; i < database->nr_typed; i++) {
		struct sql_typed *typed = database->typed[i];

		for (size_t k = 0; k < typed->nr_paths; k++) {
			free((char *)(uintptr_t)typed->columns[NR_FIXED + k].name);
			free(typed->path[k]);
		}
		for (unsigned int k = 0; k < database->nr_files; k++)
			free(typed->file[k].place);
		free((char *)(uintptr_t)typed->table.name);
		free((char *)(uintptr_t)typed->table.summary);
		free(typed->event);
		free(typed->own_name);
		free(typed->columns);
		free(typed->path);
		free(typed->file);
		map_free(&typed->by_path);
		free(typed);
	}
	free(database->typed);
}

/* Values. */

static void set_field(struct sql_cell *cell, const struct px_field_value *value)
{
	if (value->is_text) {
		sql_put_string(cell, value->text, value->length);
	} else if (value->kind == PX_FIELD_CHAR) {
		cell->own[0] = (char)value->number;
		sql_put_string(cell, cell->own, 1);
	} else if (value->name) {
		sql_put_string(cell, value->name, strlen(value->name));
	} else if (value->kind == PX_FIELD_FLOAT) {
		sql_put_real(cell, value->real);
	} else if (value->is_signed) {
		sql_put_integer(cell, (int64_t)value->number);
	} else {
		sql_put_unsigned(cell, value->number);
	}
}

static void get_cell(const struct sql_typed *typed, const struct sql_file *file,
		     const struct reading *reading, int column, struct sql_cell *cell)
{
	const struct typed_file *in_file = &typed->file[file->number - 1];
	const struct event *event = &reading->event;
	struct px_field_value field;

	switch (column) {
	case FILE_NUMBER:
		sql_put_integer(cell, file->number);
		return;
	case NUMBER:
		sql_put_integer(cell, (int64_t)event->number);
		return;
	case NS:
		sql_put_integer(cell, event->time_ns);
		return;
	case TIME:
		sql_put_time(cell, file, event->time_ns);
		return;
	case CPU:
		sql_put_integer(cell, event->cpu);
		return;
	case THREAD:
		sql_put_string(cell, event->thread, strlen(event->thread));
		return;
	case CONTEXT:
		sql_put_integer(cell, event->context);
		return;
	default:
		if (in_file->place[column - NR_FIXED].field &&
		    px_fields_get(in_file->fields, &in_file->place[column - NR_FIXED],
				  payload_bytes(reading->source, event), event->size, &field))
			set_field(cell, &field);
		return;
	}
}

static int begin(struct sql_cursor *cursor)
{
	const struct sql_typed *typed = (const struct sql_typed *)cursor->table;
	const struct typed_file *in_file = &typed->file[cursor->file->number - 1];
	struct reading *reading;
	int code = sql_reading_begin(cursor, false);

	if (code != SQLITE_OK)
		return code;
	reading = cursor->state;
	reading->has_only = true;
	reading->only = in_file->id;
	return SQLITE_OK;
}

static bool next(struct sql_cursor *cursor)
{
	const struct sql_typed *typed = (const struct sql_typed *)cursor->table;

	return typed->file[cursor->file->number - 1].fields && sql_reading_next(cursor);
}

static void value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	get_cell((const struct sql_typed *)cursor->table, cursor->file, cursor->state, column, cell);
}

/* All rows. */

static size_t nr_columns(const struct sql_typed *typed)
{
	return NR_FIXED + typed->nr_paths;
}

static int read_file(struct sql_database *database, struct sql_file *file, struct sql_cell *cells, sql_typed_row *row,
		     void *argument)
{
	struct reading reading = {.source = sql_file_take(file)};
	struct map typed_of = {0}; /* key: event type; value: 1 + index of the table */
	int code = reading.source ? SQLITE_OK : SQLITE_CANTOPEN;

	for (size_t i = 0; i < database->nr_typed; i++)
		if (database->typed[i]->file[file->number - 1].fields)
			*map_get(&typed_of, database->typed[i]->file[file->number - 1].id) = i + 1;
	while (code == SQLITE_OK && selection_next(file->selection, reading.source, &reading.event)) {
		uint64_t index = map_find(&typed_of, reading.event.type);
		const struct sql_typed *typed = index > 0 ? database->typed[index - 1] : NULL;

		if (!typed)
			continue;
		for (size_t i = 0; i < nr_columns(typed); i++) {
			cells[i].kind = CELL_NULL;
			get_cell(typed, file, &reading, (int)i, &cells[i]);
		}
		code = row(argument, (size_t)index - 1, cells, nr_columns(typed));
	}
	sql_file_give(file, reading.source);
	map_free(&typed_of);
	return code;
}

int sql_typed_each(struct sql_database *database, sql_typed_row *row, void *argument)
{
	struct sql_cell *cells;
	size_t nr_cells = 0;
	int code = SQLITE_OK;

	for (size_t i = 0; i < database->nr_typed; i++)
		if (nr_columns(database->typed[i]) > nr_cells)
			nr_cells = nr_columns(database->typed[i]);
	if (nr_cells == 0)
		return SQLITE_OK;
	cells = must(calloc(nr_cells, sizeof(*cells)));
	for (unsigned int i = 0; i < database->nr_files && code == SQLITE_OK; i++)
		code = read_file(database, &database->file[i], cells, row, argument);
	free(cells);
	return code;
}
