/* SPDX-License-Identifier: MIT */
/* A cursor that reads the events of files, for tables with a row for each event. */
#ifndef TXTRACE_SQL_READING_H
#define TXTRACE_SQL_READING_H

#include "sql/table.h"

struct reading {
	struct sql_file *file; /* the file of the source */
	struct source *source;
	struct event event;
	bool has_only; /* only events of the type `only` */
	trace_event_id_t only;
	int64_t from_ns, until_ns; /* of this file; until_ns is inclusive */
	bool stops;		   /* no event after one that is later than until_ns is in the range */
	struct text text;
};

/*
 * Begin with the events of cursor->file within the bounds.  cursor->state is then the struct reading.  needs_code: the
 * query needs the code that recorded an event.  Return a code of SQLite.
 */
int sql_reading_begin(struct sql_cursor *cursor, bool needs_code);

/* Read the next event within the bounds.  Return false after the last event of the file. */
bool sql_reading_next(struct sql_cursor *cursor);
void sql_reading_close(struct sql_cursor *cursor);

#endif
