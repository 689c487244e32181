/* SPDX-License-Identifier: MIT */
/* The table of spans. */
#include "sql/table.h"

enum {
	SPAN_FILE,
	SPAN_NAME,
	SPAN_NUMBER,
	SPAN_NS,
	SPAN_TIME,
	SPAN_UNTIL_NS,
	SPAN_DURATION_NS,
	SPAN_DURATION,
	SPAN_THREAD,
	SPAN_CONTEXT,
	SPAN_ENDING
};

static const struct sql_column columns[] = {
	[SPAN_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[SPAN_NAME] = {"span", "TEXT", ROLE_NONE, NULL},
	[SPAN_NUMBER] = {"number", "INTEGER", ROLE_NONE, "number"},
	[SPAN_NS] = {"ns", "INTEGER", ROLE_NONE, "ns"},
	[SPAN_TIME] = {"time", "REAL", ROLE_NONE, NULL},
	[SPAN_UNTIL_NS] = {"until_ns", "INTEGER", ROLE_NONE, NULL},
	[SPAN_DURATION_NS] = {"duration_ns", "INTEGER", ROLE_NONE, NULL},
	[SPAN_DURATION] = {"duration", "REAL", ROLE_NONE, NULL},
	[SPAN_THREAD] = {"thread", "TEXT", ROLE_NONE, NULL},
	[SPAN_CONTEXT] = {"context", "INTEGER", ROLE_NONE, NULL},
	[SPAN_ENDING] = {"ending", "TEXT", ROLE_NONE, NULL},
	{0},
};

static int begin(struct sql_cursor *cursor)
{
	return sql_file_spans(cursor->file) ? SQLITE_OK : SQLITE_CANTOPEN;
}

static bool next(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_spans;
}

static void value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct sql_span *span = &cursor->file->span[cursor->row];
	const struct span_time *time = &span->time;
	bool has_end = time->ending == SPAN_ENDED;

	switch (column) {
	case SPAN_NAME:
		sql_put_text(cell, span->span->name);
		break;
	case SPAN_NUMBER:
		sql_put_integer(cell, (int64_t)time->number);
		break;
	case SPAN_NS:
		sql_put_integer(cell, time->begin_ns);
		break;
	case SPAN_TIME:
		sql_put_time(cell, cursor->file, time->begin_ns);
		break;
	case SPAN_UNTIL_NS:
		if (has_end)
			sql_put_integer(cell, time->end_ns);
		break;
	case SPAN_DURATION_NS:
		if (has_end)
			sql_put_integer(cell, time->end_ns - time->begin_ns);
		break;
	case SPAN_DURATION:
		if (has_end)
			sql_put_real(cell, (double)(time->end_ns - time->begin_ns) / NS_PER_S);
		break;
	case SPAN_THREAD:
		if (time->context)
			sql_put_text(cell, source_context_name(cursor->file->source, time->context));
		break;
	case SPAN_CONTEXT:
		if (time->context)
			sql_put_integer(cell, time->context);
		break;
	default:
		sql_put_text(cell, has_end ? "ended" : time->ending == SPAN_OPEN ? "lasts" : "end missing");
		break;
	}
}

const struct sql_table sql_spans = {
	.name = "spans",
	.summary = "one row for each time of a span, of --span or described by the program",
	.columns = columns,
	.begin = begin,
	.next = next,
	.value = value,
};
