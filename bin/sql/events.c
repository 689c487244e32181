/* SPDX-License-Identifier: MIT */
/* The table of events. */
#include "sql/reading.h"
#include "trace/calldata.h"
#include "trace/calls.h"
#include "trace/columns.h"

enum {
	FILE_NUMBER,
	NUMBER,
	NS,
	TIME,
	CPU,
	PID,
	THREAD,
	CONTEXT,
	PRIORITY,
	EVENT,
	TYPE,
	PHASE,
	OBJECT,
	HANDLE,
	RESULT,
	ADDRESS,
	SITE,
	SIZE,
	CUT,
	DATA,
	BYTES
};

static const struct sql_column columns[] = {
	[FILE_NUMBER] = {"file", "INTEGER", ROLE_FILE, NULL},
	[NUMBER] = {"number", "INTEGER", ROLE_NUMBER, NULL},
	[NS] = {"ns", "INTEGER", ROLE_NS, "ns"},
	[TIME] = {"time", "REAL", ROLE_TIME, NULL},
	[CPU] = {"cpu", "INTEGER", ROLE_NONE, NULL},
	[PID] = {"pid", "INTEGER", ROLE_NONE, NULL},
	[THREAD] = {"thread", "TEXT", ROLE_THREAD, NULL},
	[CONTEXT] = {"context", "INTEGER", ROLE_CONTEXT, "context"},
	[PRIORITY] = {"priority", "INTEGER", ROLE_NONE, NULL},
	[EVENT] = {"event", "TEXT", ROLE_EVENT, NULL},
	[TYPE] = {"type", "INTEGER", ROLE_TYPE, "type"},
	[PHASE] = {"phase", "TEXT", ROLE_NONE, NULL},
	[OBJECT] = {"object", "TEXT", ROLE_NONE, NULL},
	[HANDLE] = {"handle", "INTEGER", ROLE_NONE, NULL},
	[RESULT] = {"result", "INTEGER", ROLE_NONE, NULL},
	[ADDRESS] = {"address", "INTEGER", ROLE_NONE, NULL},
	[SITE] = {"site", "TEXT", ROLE_NONE, NULL},
	[SIZE] = {"size", "INTEGER", ROLE_NONE, NULL},
	[CUT] = {"cut", "INTEGER", ROLE_NONE, NULL},
	[DATA] = {"data", "TEXT", ROLE_NONE, NULL},
	[BYTES] = {"bytes", "BLOB", ROLE_NONE, NULL},
	{0},
};

static int begin(struct sql_cursor *cursor)
{
	return sql_reading_begin(cursor, cursor->columns & 1u << SITE);
}

static void put_data(struct reading *reading, sqlite3_context *result)
{
	reading->text.used = 0;
	reading->text.error = 0;
	print_data(&reading->text, reading->source, &reading->event);
	if (reading->text.used > 0)
		sqlite3_result_text(result, reading->text.bytes, (int)reading->text.used, SQLITE_TRANSIENT);
}

static void put_site(struct reading *reading, sqlite3_context *result)
{
	struct symbols *symbols = source_symbols(reading->source);

	if (symbols && reading->event.code)
		sql_result_text(result, symbols_code(symbols, reading->event.code));
}

static void put_call(const struct event *event, const struct sql_file *file, sqlite3_context *result, int column)
{
	static const char *const phases[] = {
		[TXTRACE_CALL_WHOLE] = "whole", [TXTRACE_CALL_BEGINS] = "begins", [TXTRACE_CALL_ENDS] = "ends"};
	const struct txtrace_object *object;

	if (!event->is_call)
		return;
	object = event->call.object ? source_object(file->source, event->call.object) : NULL;
	if (column == PHASE && event->call.phase >= 0 && event->call.phase <= TXTRACE_CALL_ENDS)
		sqlite3_result_text(result, phases[event->call.phase], -1, SQLITE_STATIC);
	else if (column == OBJECT && object)
		sql_result_text(result, object->name);
	else if (column == HANDLE && event->call.object)
		sqlite3_result_int64(result, event->call.object);
	else if (column == RESULT && event->call.phase != TXTRACE_CALL_BEGINS && event->row &&
		 (event->row->layout == LAYOUT_OBJECT || event->row->layout == LAYOUT_FD))
		sqlite3_result_int(result, call_result(event));
}

static void value(struct sql_cursor *cursor, sqlite3_context *result, int column)
{
	struct reading *reading = cursor->state;
	const struct event *event = &reading->event;

	switch (column) {
	case NUMBER:
		sqlite3_result_int64(result, (int64_t)event->number);
		break;
	case NS:
		sqlite3_result_int64(result, event->time_ns);
		break;
	case TIME:
		sql_result_time(result, cursor->file, event->time_ns);
		break;
	case CPU:
		sqlite3_result_int64(result, event->cpu);
		break;
	case PID:
		sqlite3_result_int64(result, event->pid);
		break;
	case THREAD:
		sqlite3_result_text(result, event->thread, -1, SQLITE_TRANSIENT);
		break;
	case CONTEXT:
		sqlite3_result_int64(result, event->context);
		break;
	case PRIORITY:
		if (event->priority >= 0)
			sqlite3_result_int(result, event->priority);
		break;
	case EVENT:
		sqlite3_result_text(result, event->name, -1, SQLITE_TRANSIENT);
		break;
	case TYPE:
		sqlite3_result_int64(result, (int64_t)event->type);
		break;
	case ADDRESS:
		sqlite3_result_int64(result, (int64_t)event->address);
		break;
	case SITE:
		put_site(reading, result);
		break;
	case SIZE:
		sqlite3_result_int64(result, (int64_t)event->size);
		break;
	case CUT:
		sqlite3_result_int(result, event->is_truncated);
		break;
	case DATA:
		put_data(reading, result);
		break;
	case BYTES:
		sqlite3_result_blob64(result, event->data, event->size, SQLITE_TRANSIENT);
		break;
	default:
		put_call(event, cursor->file, result, column);
		break;
	}
}

const struct sql_table sql_events = {
	.name = "events",
	.summary = "one row for each event",
	.columns = columns,
	.is_long = true,
	.begin = begin,
	.next = sql_reading_next,
	.value = value,
	.close = sql_reading_close,
};
