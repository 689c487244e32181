/* SPDX-License-Identifier: MIT */
#include "sql/reading.h"

#include <stdlib.h>

#include "base/memory.h"

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

int sql_reading_begin(struct sql_cursor *cursor, bool needs_code)
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
	if (reading->from_ns > cursor->file->first_ns && !needs_code &&
	    source_next(reading->source, &reading->event) && !source_go(reading->source, reading->from_ns))
		source_rewind(reading->source);
	return SQLITE_OK;
}

static bool is_wanted(const struct sql_cursor *cursor, const struct reading *reading)
{
	const struct sql_bounds *bounds = &cursor->bounds;
	const struct event *event = &reading->event;

	return (!reading->has_only || event->type == reading->only) && event->time_ns >= reading->from_ns &&
	       event->time_ns <= reading->until_ns && sql_set_has_number(&bounds->type, (int64_t)event->type) &&
	       sql_set_has_number(&bounds->context, event->context) && sql_set_has_text(&bounds->event, event->name) &&
	       sql_set_has_text(&bounds->thread, event->thread);
}

bool sql_reading_next(struct sql_cursor *cursor)
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

void sql_reading_close(struct sql_cursor *cursor)
{
	struct reading *reading = cursor->state;

	if (reading && reading->file)
		sql_file_give(reading->file, reading->source);
	free(reading);
}
