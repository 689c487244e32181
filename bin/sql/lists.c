/* SPDX-License-Identifier: MIT */
/* The tables of threads, objects, types, modules and files: what txtrace info shows. */
#include <stdlib.h>

#include "sql/table.h"
#include "trace/native.h"
#include "trace/origins.h"
#include "trace/symbols.h"

static int begin(struct sql_cursor *cursor)
{
	(void)cursor;
	return SQLITE_OK;
}

/* Threads and objects. */

enum {
	OBJECT_FILE,
	OBJECT_HANDLE,
	OBJECT_NAME,
	OBJECT_KIND,
	OBJECT_PRIORITY,
	OBJECT_PID,
	OBJECT_HOST,
	OBJECT_TID,
	OBJECT_ADDRESS,
	OBJECT_SITE,
	OBJECT_DELETED
};

static const struct sql_column thread_columns[] = {
	[OBJECT_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[OBJECT_HANDLE] = {"context", "INTEGER", ROLE_NONE, "context"},
	[OBJECT_NAME] = {"thread", "TEXT", ROLE_NONE, NULL},
	[OBJECT_KIND] = {"kind", "TEXT", ROLE_NONE, NULL},
	[OBJECT_PRIORITY] = {"priority", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_PID] = {"pid", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_HOST] = {"host", "TEXT", ROLE_NONE, NULL},
	[OBJECT_TID] = {"tid", "INTEGER", ROLE_NONE, NULL},
	{0},
};

static const struct sql_column object_columns[] = {
	[OBJECT_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[OBJECT_HANDLE] = {"handle", "INTEGER", ROLE_NONE, "handle"},
	[OBJECT_NAME] = {"object", "TEXT", ROLE_NONE, NULL},
	[OBJECT_KIND] = {"kind", "TEXT", ROLE_NONE, NULL},
	[OBJECT_PRIORITY] = {"priority", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_PID] = {"pid", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_HOST] = {"host", "TEXT", ROLE_NONE, NULL},
	[OBJECT_TID] = {"tid", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_ADDRESS] = {"address", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_SITE] = {"site", "INTEGER", ROLE_NONE, NULL},
	[OBJECT_DELETED] = {"deleted", "INTEGER", ROLE_NONE, NULL},
	{0},
};

static bool next_object(struct sql_cursor *cursor)
{
	const struct source *source = cursor->file->source;

	while (cursor->row < source->nr_objects && source->objects[cursor->row].type == OBJECT_EVENT_TYPE)
		cursor->row++;
	return cursor->row < source->nr_objects;
}

static bool next_thread(struct sql_cursor *cursor)
{
	const struct source *source = cursor->file->source;

	while (cursor->row < source->nr_objects && source->objects[cursor->row].type != OBJECT_THREAD)
		cursor->row++;
	return cursor->row < source->nr_objects;
}

/* 0 means unknown. */
static void put_known(struct sql_cell *cell, uint64_t number)
{
	if (number > 0)
		sql_put_integer(cell, (int64_t)number);
}

/* In a log of several hosts, the pid tells the host. */
static void put_host(struct sql_cell *cell, struct source *source, pid_t pid)
{
	if (pid > 0 || source_nr_hosts(source) == 1)
		sql_put_text(cell, source_host(source, pid));
}

static void object_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct txtrace_object *object = &cursor->file->source->objects[cursor->row];

	switch (column) {
	case OBJECT_HANDLE:
		sql_put_integer(cell, object->handle);
		break;
	case OBJECT_NAME:
		sql_put_string(cell, object->name, strlen(object->name));
		break;
	case OBJECT_KIND:
		sql_put_text(cell, source_object_type(cursor->file->source, object->type));
		break;
	case OBJECT_PRIORITY:
		if (object->priority >= 0)
			sql_put_integer(cell, object->priority);
		break;
	case OBJECT_PID:
		put_known(cell, (uint64_t)object->pid);
		break;
	case OBJECT_HOST:
		put_host(cell, cursor->file->source, object->pid);
		break;
	case OBJECT_TID:
		put_known(cell, (uint64_t)object->tid);
		break;
	case OBJECT_ADDRESS:
		put_known(cell, object->address);
		break;
	case OBJECT_SITE:
		put_known(cell, object->site);
		break;
	default:
		sql_put_integer(cell, object->released);
		break;
	}
}

const struct sql_table sql_threads = {
	.name = "threads",
	.summary = "the threads that have recorded events",
	.columns = thread_columns,
	.begin = begin,
	.next = next_thread,
	.value = object_value,
};

const struct sql_table sql_objects = {
	.name = "objects",
	.summary = "the objects of the file: threads, mutexes, queues, sockets",
	.columns = object_columns,
	.begin = begin,
	.next = next_object,
	.value = object_value,
};

/* Types. */

static const struct sql_column type_columns[] = {
	{"file", "INTEGER", ROLE_FILE, NULL},
	{"type", "INTEGER", ROLE_NONE, "type"},
	{"event", "TEXT", ROLE_NONE, NULL},
	{0},
};

static int begin_types(struct sql_cursor *cursor)
{
	sql_file_list_types(cursor->file);
	return SQLITE_OK;
}

static bool next_type(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_types;
}

static void type_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct sql_type *type = &cursor->file->type[cursor->row];

	if (column == 1)
		sql_put_integer(cell, (int64_t)type->id);
	else
		sql_put_string(cell, type->name, strlen(type->name));
}

const struct sql_table sql_types = {
	.name = "types",
	.summary = "the event types",
	.columns = type_columns,
	.begin = begin_types,
	.next = next_type,
	.value = type_value,
};

/* Modules. */

static const struct sql_column module_columns[] = {
	{"file", "INTEGER", ROLE_FILE, NULL},
	{"base", "INTEGER", ROLE_NONE, NULL},
	{"from_address", "INTEGER", ROLE_NONE, NULL},
	{"until_address", "INTEGER", ROLE_NONE, NULL},
	{"build_id", "TEXT", ROLE_NONE, NULL},
	{"path", "TEXT", ROLE_NONE, NULL},
	{0},
};

static int begin_modules(struct sql_cursor *cursor)
{
	sql_file_list_modules(cursor->file);
	return SQLITE_OK;
}

static bool next_module(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_modules;
}

static void module_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct sql_module *module = &cursor->file->module[cursor->row];
	const char *const texts[] = {module->base, module->from, module->until, module->build_id, module->path};

	if (column <= 3)
		sql_put_integer(cell, (int64_t)strtoull(texts[column - 1], NULL, 16));
	else
		sql_put_text(cell, texts[column - 1]);
}

const struct sql_table sql_modules = {
	.name = "modules",
	.summary = "the program and its shared objects",
	.columns = module_columns,
	.begin = begin_modules,
	.next = next_module,
	.value = module_value,
};

/* Files. */

enum {
	FILE_NUMBER,
	FILE_PATH,
	FILE_KIND,
	FILE_EVENTS,
	FILE_FIRST_NS,
	FILE_LAST_NS,
	FILE_DURATION,
	FILE_GAPS,
	FILE_OVERWRITTEN,
	FILE_DROPPED,
	FILE_ABANDONED,
	FILE_BY_LOG,
	FILE_MISSING,
	FILE_LOG_FULL,
	FILE_LOG_LOST,
	FILE_COMPLETE,
	FILE_BYTES
};

static const struct sql_column file_columns[] = {
	[FILE_NUMBER] = {"file", "INTEGER", ROLE_FILE, NULL},
	[FILE_PATH] = {"path", "TEXT", ROLE_NONE, NULL},
	[FILE_KIND] = {"kind", "TEXT", ROLE_NONE, NULL},
	[FILE_EVENTS] = {"events", "INTEGER", ROLE_NONE, NULL},
	[FILE_FIRST_NS] = {"first_ns", "INTEGER", ROLE_NONE, NULL},
	[FILE_LAST_NS] = {"last_ns", "INTEGER", ROLE_NONE, NULL},
	[FILE_DURATION] = {"duration", "REAL", ROLE_NONE, NULL},
	[FILE_GAPS] = {"gaps", "INTEGER", ROLE_NONE, NULL},
	[FILE_OVERWRITTEN] = {"overwritten", "INTEGER", ROLE_NONE, NULL},
	[FILE_DROPPED] = {"dropped", "INTEGER", ROLE_NONE, NULL},
	[FILE_ABANDONED] = {"abandoned", "INTEGER", ROLE_NONE, NULL},
	[FILE_BY_LOG] = {"by_log", "INTEGER", ROLE_NONE, NULL},
	[FILE_MISSING] = {"missing", "INTEGER", ROLE_NONE, NULL},
	[FILE_LOG_FULL] = {"log_was_full", "INTEGER", ROLE_NONE, NULL},
	[FILE_LOG_LOST] = {"log_has_lost_events", "INTEGER", ROLE_NONE, NULL},
	[FILE_COMPLETE] = {"complete", "INTEGER", ROLE_NONE, NULL},
	[FILE_BYTES] = {"bytes", "INTEGER", ROLE_NONE, NULL},
	{0},
};

static bool next_file(struct sql_cursor *cursor)
{
	return cursor->row == 0;
}

static void loss_value(const struct sql_file *file, struct sql_cell *cell, int column)
{
	const struct txtrace_loss *loss = &file->source->loss;

	if (file->info.foreign)
		return;
	sql_put_integer(cell, (int64_t)(column == FILE_OVERWRITTEN ? loss->overwritten :
					       column == FILE_DROPPED	  ? loss->dropped :
					       column == FILE_ABANDONED	  ? loss->abandoned :
									    (unsigned int)file->info.nr_log_lost));
}

/* A log can lack events that nobody counted, such as those after it was full. */
static void log_value(const struct sql_file *file, struct sql_cell *cell, int column)
{
	const struct posix_trace_status_info *status = &file->source->status;

	if (file->info.foreign)
		return;
	sql_put_integer(cell, column == FILE_LOG_FULL ? status->posix_log_full_status == POSIX_TRACE_FULL :
							status->posix_log_overrun_status == POSIX_TRACE_OVERRUN);
}

/* Values for which all events must be read. */
static void count_value(struct sql_file *file, struct sql_cell *cell, int column)
{
	sql_file_count(file);
	if (column == FILE_EVENTS)
		sql_put_integer(cell, (int64_t)file->nr_events);
	else if (column == FILE_GAPS)
		sql_put_integer(cell, (int64_t)file->nr_gaps);
	else if (column == FILE_LAST_NS && file->nr_events > 0)
		sql_put_integer(cell, file->last_ns);
	else if (column == FILE_DURATION && file->nr_events > 0)
		sql_put_time(cell, file, file->last_ns);
	else if (column == FILE_MISSING)
		sql_put_integer(cell, (int64_t)file->nr_missing);
}

static void file_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	struct sql_file *file = cursor->file;

	switch (column) {
	case FILE_PATH:
		sql_put_text(cell, file->path);
		break;
	case FILE_KIND:
		sql_put_text(cell, file->info.foreign ? "ThreadX trace buffer" : "posixtrace log");
		break;
	case FILE_FIRST_NS:
		if (file->has_event)
			sql_put_integer(cell, file->first_ns);
		break;
	case FILE_OVERWRITTEN:
	case FILE_DROPPED:
	case FILE_ABANDONED:
	case FILE_BY_LOG:
		loss_value(file, cell, column);
		break;
	case FILE_LOG_FULL:
	case FILE_LOG_LOST:
		log_value(file, cell, column);
		break;
	case FILE_COMPLETE:
		if (file->source->is_cut || file->info.damaged || !file->info.foreign)
			sql_put_integer(cell, !file->source->is_cut && file->info.complete && !file->info.damaged &&
						      !file->info.running);
		break;
	case FILE_BYTES:
		sql_put_integer(cell, (int64_t)file->info.size);
		break;
	default:
		count_value(file, cell, column);
		break;
	}
}

const struct sql_table sql_files = {
	.name = "files",
	.summary = "the files, and what was lost",
	.columns = file_columns,
	.begin = begin,
	.next = next_file,
	.value = file_value,
};
