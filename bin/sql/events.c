/* SPDX-License-Identifier: MIT */
/* The table of events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/table.h"
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

struct reading {
	struct sql_file *file; /* the file of the source */
	struct source *source;
	struct event event;
	int64_t from_ns, until_ns; /* of this file; until_ns is inclusive */
	bool stops;		   /* no event after one that is later than until_ns is in the range */
	struct text text;
};

/* Convert seconds from the first event to ns.  The bounds of the result are those of int64_t. */
static int64_t to_ns(const struct sql_file *file, double seconds)
{
	double ns = seconds * NS_PER_S;

	if (ns >= 4e18)
		return INT64_MAX;
	return ns <= -4e18 ? INT64_MIN : file->first_ns + (int64_t)ns;
}

static void set_range(const struct sql_cursor *cursor, struct reading *reading)
{
	int64_t from_ns = to_ns(cursor->file, cursor->bounds.from_s);
	int64_t until_ns = to_ns(cursor->file, cursor->bounds.until_s);

	reading->from_ns = from_ns > cursor->bounds.from_ns ? from_ns : cursor->bounds.from_ns;
	reading->until_ns = until_ns < cursor->bounds.until_ns ? until_ns : cursor->bounds.until_ns;
	/* The times in a log do not fall.  Before format 3, this was not so. */
	reading->stops = !cursor->file->info.foreign && cursor->file->info.format >= 3;
}

static int begin(struct sql_cursor *cursor)
{
	struct reading *reading = cursor->state;

	if (!reading) {
		reading = cursor->state = must(calloc(1, sizeof(*reading)));
		reading->text.fd = -1;
	}
	if (reading->file != cursor->file) {
		if (reading->file)
			sql_file_give(reading->file, reading->source);
		reading->file = cursor->file;
		reading->source = sql_file_take(cursor->file);
		if (!reading->source)
			return SQLITE_CANTOPEN;
	} else {
		source_rewind(reading->source);
	}
	set_range(cursor, reading);
	/* To know the code that recorded an event, the source has to read all events before it. */
	if (reading->from_ns > cursor->file->first_ns && !(cursor->columns & 1u << SITE) &&
	    source_next(reading->source, &reading->event) && !source_go(reading->source, reading->from_ns))
		source_rewind(reading->source);
	return SQLITE_OK;
}

static bool is_wanted(const struct sql_cursor *cursor, const struct reading *reading)
{
	const struct sql_bounds *bounds = &cursor->bounds;
	const struct event *event = &reading->event;

	return event->time_ns >= reading->from_ns && event->time_ns <= reading->until_ns &&
	       (!bounds->has_type || bounds->type == (int64_t)event->type) &&
	       (!bounds->has_context || bounds->context == event->context) &&
	       (!bounds->event || strcmp(bounds->event, event->name) == 0) &&
	       (!bounds->thread || strcmp(bounds->thread, event->thread) == 0);
}

static bool next(struct sql_cursor *cursor)
{
	struct reading *reading = cursor->state;

	while (selection_next(cursor->file->selection, reading->source, &reading->event)) {
		if (is_wanted(cursor, reading))
			return true;
		if (reading->stops && reading->event.time_ns > reading->until_ns)
			return false;
	}
	return false;
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

static void close_reading(struct sql_cursor *cursor)
{
	struct reading *reading = cursor->state;

	if (reading && reading->file)
		sql_file_give(reading->file, reading->source);
	free(reading);
}

const struct sql_table sql_events = {
	.name = "events",
	.summary = "one row for each event",
	.columns = columns,
	.is_long = true,
	.begin = begin,
	.next = next,
	.value = value,
	.close = close_reading,
};
