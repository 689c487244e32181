/* SPDX-License-Identifier: MIT */
/* The table of events. */
#include "sql/reading.h"
#include "trace/calldata.h"
#include "trace/calls.h"
#include "trace/data_text.h"
#include "trace/origins.h"

enum {
	FILE_NUMBER,
	NUMBER,
	NS,
	TIME,
	CPU,
	PID,
	HOST,
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
	[HOST] = {"host", "TEXT", ROLE_NONE, NULL},
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

static void put_data(struct reading *reading, struct sql_cell *cell)
{
	reading->text.used = 0;
	reading->text.error = 0;
	print_data(&reading->text, reading->source, &reading->event);
	if (reading->text.used > 0)
		sql_put_string(cell, reading->text.bytes, reading->text.used);
}

static void put_site(struct reading *reading, struct sql_cell *cell)
{
	struct symbols *symbols = source_symbols(reading->source);

	if (symbols && reading->event.code)
		sql_put_text(cell, symbols_code(symbols, reading->event.code));
}

static void put_call(const struct event *event, const struct sql_file *file, struct sql_cell *cell, int column)
{
	static const char *const phases[] = {
		[TXTRACE_CALL_WHOLE] = "whole", [TXTRACE_CALL_BEGINS] = "begins", [TXTRACE_CALL_ENDS] = "ends"};
	const struct txtrace_object *object;

	if (!event->is_call)
		return;
	object = event->call.object ? source_object(file->source, event->call.object) : NULL;
	if (column == PHASE && event->call.phase >= 0 && event->call.phase <= TXTRACE_CALL_ENDS)
		sql_put_string(cell, phases[event->call.phase], strlen(phases[event->call.phase]));
	else if (column == OBJECT && object)
		sql_put_text(cell, object->name);
	else if (column == HANDLE && event->call.object)
		sql_put_integer(cell, event->call.object);
	else if (column == RESULT && event->call.phase != TXTRACE_CALL_BEGINS && event->row &&
		 (event->row->layout == LAYOUT_OBJECT || event->row->layout == LAYOUT_FD))
		sql_put_integer(cell, call_result(event));
}

static void value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	struct reading *reading = cursor->state;
	const struct event *event = &reading->event;

	switch (column) {
	case NUMBER:
		sql_put_integer(cell, (int64_t)event->number);
		break;
	case NS:
		sql_put_integer(cell, event->time_ns);
		break;
	case TIME:
		sql_put_time(cell, cursor->file, event->time_ns);
		break;
	case CPU:
		sql_put_integer(cell, event->cpu);
		break;
	case PID:
		sql_put_integer(cell, event->pid);
		break;
	case HOST:
		sql_put_text(cell, source_host(reading->source, event->pid));
		break;
	case THREAD:
		sql_put_string(cell, event->thread, strlen(event->thread));
		break;
	case CONTEXT:
		sql_put_integer(cell, event->context);
		break;
	case PRIORITY:
		if (event->priority >= 0)
			sql_put_integer(cell, event->priority);
		break;
	case EVENT:
		sql_put_string(cell, event->name, strlen(event->name));
		break;
	case TYPE:
		sql_put_integer(cell, (int64_t)event->type);
		break;
	case ADDRESS:
		sql_put_integer(cell, (int64_t)event->address);
		break;
	case SITE:
		put_site(reading, cell);
		break;
	case SIZE:
		sql_put_integer(cell, (int64_t)event->size);
		break;
	case CUT:
		sql_put_integer(cell, event->is_truncated);
		break;
	case DATA:
		put_data(reading, cell);
		break;
	case BYTES:
		sql_put_bytes(cell, event->data, event->size);
		break;
	default:
		put_call(event, cursor->file, cell, column);
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
