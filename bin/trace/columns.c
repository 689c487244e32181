/* SPDX-License-Identifier: MIT */
#include "trace/columns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/when.h"
#include "cli/terminal.h"
#include "trace/calldata.h"
#include "trace/data_text.h"
#include "trace/origins.h"
#include "trace/payload.h"
#include "trace/sched.h"

#define LIVE_THREAD 22 /* in a live stream, width of the column with the name and the number of the thread */

static void put_clock(struct text *text, const struct event *event)
{
	time_t seconds = (time_t)(event->time_ns / NS_PER_S);
	static time_t known;
	static char shown[32];
	struct tm date;

	if (seconds != known || !*shown) {
		localtime_r(&seconds, &date);
		strftime(shown, sizeof(shown), "%Y-%m-%dT%H:%M:%S", &date);
		known = seconds;
	}
	text_string(text, shown);
	text_char(text, '.');
	text_unsigned(text, (uint64_t)(event->time_ns % NS_PER_S), 9, '0');
}

static void put_text_thread(struct listing *listing, const struct event *event)
{
	text_string(listing->text, terminal_color(COLOR_NAME));
	text_plain(listing->text, event->thread, listing->thread_width);
	text_string(listing->text, terminal_color(COLOR_PLAIN));
}

static void put_text_event(struct listing *listing, const struct event *event)
{
	text_string(listing->text, terminal_color(COLOR_BOLD));
	text_plain(listing->text, event->name, listing->event_width);
	text_string(listing->text, terminal_color(COLOR_PLAIN));
}

enum column {
	COLUMN_NUMBER,
	COLUMN_TIME,
	COLUMN_DELTA,
	COLUMN_CLOCK,
	COLUMN_NS,
	COLUMN_CPU,
	COLUMN_PID,
	COLUMN_HOST,
	COLUMN_THREAD,
	COLUMN_CONTEXT,
	COLUMN_PRIORITY,
	COLUMN_EVENT,
	COLUMN_TYPE,
	COLUMN_ADDRESS,
	COLUMN_WHERE,
	COLUMN_SIZE,
	COLUMN_CUT,
	COLUMN_DATA,
	COLUMN_HEX,
	COLUMN_FIELD, /* data.PATH */
	NR_COLUMNS
};

static const struct {
	const char *name;
	int width;    /* width of the column in text */
	bool is_text; /* JSON quotes the value */
} columns[NR_COLUMNS] = {
	[COLUMN_NUMBER] = {"number", 8, false},	  [COLUMN_TIME] = {"time", 15, false},
	[COLUMN_DELTA] = {"delta", 13, false},	  [COLUMN_CLOCK] = {"clock", 29, true},
	[COLUMN_NS] = {"ns", 19, false},	  [COLUMN_CPU] = {"cpu", 3, false},
	[COLUMN_PID] = {"pid", 7, false},	  [COLUMN_THREAD] = {"thread", 0, true},
	[COLUMN_HOST] = {"host", 0, true},
	[COLUMN_CONTEXT] = {"context", 8, true},  [COLUMN_PRIORITY] = {"priority", 8, false},
	[COLUMN_EVENT] = {"event", 0, true},	  [COLUMN_TYPE] = {"type", 5, false},
	[COLUMN_ADDRESS] = {"address", 18, true}, [COLUMN_SIZE] = {"size", 5, false},
	[COLUMN_CUT] = {"cut", 3, false},	  [COLUMN_DATA] = {"data", 0, true},
	[COLUMN_WHERE] = {"where", 32, true},	  [COLUMN_HEX] = {"hex", 0, true},
	[COLUMN_FIELD] = {"data.", 0, false},
};

const char *listing_column_name(int i)
{
	return i < COLUMN_FIELD ? columns[i].name : NULL;
}

static const char usual_text[] = "time,delta,cpu,thread,event,data";
/* Of a merged log of several hosts. */
static const char hosts_text[] = "time,delta,host,cpu,thread,event,data";
static const char usual_data[] =
	"number,ns,time,cpu,pid,thread,context,priority,event,type,address,size,cut,data,hex";
static const char hosts_data[] =
	"number,ns,time,host,cpu,pid,thread,context,priority,event,type,address,size,cut,data,hex";
static const char all[] = "number,ns,time,delta,clock,cpu,pid,thread,context,priority,event,type,"
			  "address,size,cut,data,hex";
static const char hosts_all[] = "number,ns,time,delta,clock,host,cpu,pid,thread,context,priority,event,type,"
				"address,size,cut,data,hex";

static bool is_name(int column, const char *name, size_t length)
{
	size_t start = strlen(columns[column].name);

	return strncmp(columns[column].name, name, start) == 0 &&
	       (column == COLUMN_FIELD ? length > start : length == start);
}

static void forget_fields(struct listing *listing)
{
	for (int i = 0; i < listing->nr_columns; i++) {
		free(listing->field[i]);
		listing->field[i] = NULL;
	}
}

bool listing_choose(struct listing *listing, const char *names)
{
	bool has_hosts = listing->source && source_nr_hosts(listing->source) > 1;
	const char *at = names ? names :
			 listing->format == FORMAT_TEXT ? (has_hosts ? hosts_text : usual_text) :
			 has_hosts ? hosts_data :
				     usual_data;

	if (strcmp(at, "all") == 0)
		at = has_hosts ? hosts_all : all;
	forget_fields(listing);
	listing->nr_columns = 0;
	do {
		size_t length = strcspn(at, ",");
		int column = 0;

		while (column < NR_COLUMNS && !is_name(column, at, length))
			column++;
		if (column == NR_COLUMNS) {
			message("there is no column \"%.*s\"; there are number, time, delta, "
				"clock, "
				"ns, "
				"cpu, pid, host, thread, context, "
				"priority, event, type, address, where, size, cut, data, hex, and data.FIELD",
				(int)length, at);
			return false;
		}
		if (listing->nr_columns < COLUMNS_MAX) {
			if (column == COLUMN_FIELD)
				listing->field[listing->nr_columns] = must(strndup(at, length));
			listing->column[listing->nr_columns++] = column;
		}
		at += length + (at[length] == ',');
	} while (*at);
	return true;
}

static bool is_dated(const struct listing *listing)
{
	return listing->format == FORMAT_TEXT && !when_is_relative() && !listing->source->file.foreign;
}

static void put_time(struct listing *listing, const struct event *event, int width)
{
	char when[WHEN_BYTES];

	if (!is_dated(listing)) {
		text_seconds(listing->text, event->time_ns - listing->source->first_ns, width);
		return;
	}
	when_write(when, event->time_ns);
	text_string(listing->text, when);
}

static int width_of(const struct listing *listing, int column)
{
	bool is_longer = listing->has_hosts && (column == COLUMN_CPU || column == COLUMN_PID);

	return column == COLUMN_HOST ? (int)listing->host_width : columns[column].width + (is_longer ? 3 : 0);
}

/* Print the value of a column.  In the text format, pad it to the width of the column. */
static void put_value(struct listing *listing, int column, const struct event *event)
{
	struct text *text = listing->text;
	bool is_text_format = listing->format == FORMAT_TEXT;
	int width = is_text_format ? width_of(listing, column) : 0;
	switch ((enum column)column) {
	case COLUMN_NUMBER:
		text_unsigned(text, event->number, width, ' ');
		break;
	case COLUMN_TIME:
		put_time(listing, event, width);
		break;
	case COLUMN_DELTA:
		text_seconds(text, event->time_ns - listing->last_ns, width);
		break;
	case COLUMN_CLOCK:
		put_clock(text, event);
		break;
	case COLUMN_NS:
		text_signed(text, event->time_ns);
		break;
	case COLUMN_CPU:
		text_unsigned(text, event->cpu, width, ' ');
		break;
	case COLUMN_PID:
		text_unsigned(text, (uint64_t)event->pid, width, ' ');
		break;
	case COLUMN_CONTEXT:
		text_hex(text, event->context, 8);
		break;
	case COLUMN_PRIORITY:
		if (event->priority >= 0)
			text_unsigned(text, (uint64_t)event->priority, width, ' ');
		else
			text_string(text, is_text_format		? "       -" :
					  listing->format == FORMAT_CSV ? "" :
									  "null");
		break;
	case COLUMN_TYPE:
		text_unsigned(text, event->type, width, ' ');
		break;
	case COLUMN_ADDRESS:
		text_string(text, "0x");
		text_hex(text, event->address, is_text_format ? 16 : 0);
		break;
	case COLUMN_SIZE:
		text_unsigned(text, event->size, width, ' ');
		break;
	case COLUMN_CUT:
		text_string(text, event->is_truncated ? (is_text_format ? "cut" : "true") :
							(is_text_format ? "   " : "false"));
		break;
	case COLUMN_HEX:
		text_bytes(text, event->data, event->size);
		break;
	default:
		break;
	}
}

/* Return the code location of the event, or "" if it is unknown. */
static const char *where(struct listing *listing, const struct event *event)
{
	const char *name = listing->symbols && event->code ?
				   symbols_code(listing->symbols, event->code) :
				   NULL;

	return name ? name : "";
}

static const char *string_of(struct listing *listing, int column, const struct event *event)
{
	switch (column) {
	case COLUMN_THREAD:
		return event->thread;
	case COLUMN_HOST:
		return source_host(listing->source, event->pid);
	case COLUMN_EVENT:
		return event->name;
	case COLUMN_DATA:
		return data_as_string(listing->source, event);
	case COLUMN_WHERE:
		return where(listing, event);
	default:
		return NULL;
	}
}

/* Print the field of a column data.PATH.  An event without it has nothing there, and in JSON null. */
static void put_field(struct listing *listing, int i, const struct event *event)
{
	static const enum payload_style styles[] = {[FORMAT_TEXT] = PAYLOAD_TEXT,
						    [FORMAT_CSV] = PAYLOAD_CSV,
						    [FORMAT_JSON] = PAYLOAD_JSON,
						    [FORMAT_JSONL] = PAYLOAD_JSON};
	enum payload_style style = styles[listing->format];
	struct px_field_value value;
	struct call_field field;
	const char *path = listing->field[i] + strlen("data.");

	if (payload_get(listing->source, event, path, &value)) {
		payload_value(listing->text, &value, style);
	} else if (calldata_is(listing->source, event) &&
		   calldata_get(listing->source, event, path, &field)) {
		const char *text = field.object ? field.object : field.text;

		if (style == PAYLOAD_JSON && !(field.is_number && !field.object))
			text_json(listing->text, text);
		else if (style == PAYLOAD_CSV)
			text_csv(listing->text, text);
		else
			text_string(listing->text, text);
	} else if (style != PAYLOAD_CSV) {
		text_string(listing->text, style == PAYLOAD_JSON ? "null" : "-");
	}
}

static const char *column_name(const struct listing *listing, int i)
{
	return listing->column[i] == COLUMN_FIELD ? listing->field[i] :
						    columns[listing->column[i]].name;
}

static void put_text_row(struct listing *listing, const struct event *event)
{
	struct text *text = listing->text;

	for (int i = 0; i < listing->nr_columns; i++) {
		int column = listing->column[i];

		if (i > 0)
			text_put(text, "  ", 2);
		if (column == COLUMN_THREAD)
			put_text_thread(listing, event);
		else if (column == COLUMN_EVENT)
			put_text_event(listing, event);
		else if (column == COLUMN_DATA)
			print_data(text, listing->source, event);
		else if (column == COLUMN_FIELD)
			put_field(listing, i, event);
		else if (column == COLUMN_HOST)
			text_plain(text, source_host(listing->source, event->pid),
				   i + 1 < listing->nr_columns ? listing->host_width : 0);
		else if (column == COLUMN_WHERE)
			text_plain(text, where(listing, event),
				   i + 1 < listing->nr_columns ? (size_t)columns[column].width : 0);
		else
			put_value(listing, column, event);
	}
	text_char(text, '\n');
}

static void put_csv_row(struct listing *listing, const struct event *event)
{
	for (int i = 0; i < listing->nr_columns; i++) {
		const char *string = string_of(listing, listing->column[i], event);

		if (i > 0)
			text_char(listing->text, ',');
		if (string)
			text_csv(listing->text, string);
		else if (listing->column[i] == COLUMN_FIELD)
			put_field(listing, i, event);
		else
			put_value(listing, listing->column[i], event);
	}
	text_put(listing->text, "\r\n", 2);
}

static void put_json_row(struct listing *listing, const struct event *event)
{
	struct text *text = listing->text;

	for (int i = 0; i < listing->nr_columns; i++) {
		int column = listing->column[i];
		const char *string = string_of(listing, column, event);
		bool is_quoted = columns[column].is_text ||
				 (column == COLUMN_NS && listing->quotes_ns);

		text_string(text, i > 0 ? ",\"" : "{\"");
		text_string(text, column_name(listing, i));
		text_put(text, "\":", 2);
		if (column == COLUMN_FIELD) {
			put_field(listing, i, event);
			continue;
		}
		if (column == COLUMN_DATA && payload_is(listing->source, event)) {
			payload_json(text, listing->source, event);
			continue;
		}
		if (column == COLUMN_DATA && calldata_is(listing->source, event)) {
			calldata_json(text, listing->source, event);
			continue;
		}
		if (string) {
			text_json(text, string);
			continue;
		}
		if (is_quoted)
			text_char(text, '"');
		put_value(listing, column, event);
		if (is_quoted)
			text_char(text, '"');
	}
	text_char(text, '}');
}

/* Rows. */

static size_t longest_thread(const struct source *source)
{
	size_t width = source->is_live ? LIVE_THREAD : strlen("thread");

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_THREAD && text_width(object->name) > width)
			width = text_width(object->name);
	}
	return width < 24 ? width : 24;
}

static size_t longest_host(struct source *source)
{
	size_t width = strlen("host"), nr;
	const struct txtrace_origin *origin = source_origins(source, &nr);

	for (size_t i = 0; i < nr; i++)
		if (text_width(origin[i].host_name) > width)
			width = text_width(origin[i].host_name);
	return width < 16 ? width : 16;
}

static void put_head(struct listing *listing)
{
	static const char blanks[] = "                                        ";
	struct text *text = listing->text;

	text_string(text, terminal_color(COLOR_DIM));
	for (int i = 0; i < listing->nr_columns; i++) {
		int column = listing->column[i];
		const char *name = column_name(listing, i);
		size_t length = strlen(name);
		size_t width = column == COLUMN_THREAD ? listing->thread_width :
			       column == COLUMN_EVENT  ? listing->event_width :
			       column == COLUMN_TIME && is_dated(listing) ? (size_t)when_width() :
							 (size_t)width_of(listing, column);
		size_t fill = width > length ? width - length : 0;
		bool is_left = column == COLUMN_THREAD || column == COLUMN_EVENT ||
			       column == COLUMN_DATA || column == COLUMN_WHERE || column == COLUMN_FIELD ||
			       column == COLUMN_HOST;

		if (i > 0)
			text_put(text, "  ", 2);
		if (!is_left)
			text_put(text, blanks, fill);
		text_string(text, name);
		if (is_left && i + 1 < listing->nr_columns)
			text_put(text, blanks, fill);
	}
	text_string(text, terminal_color(COLOR_PLAIN));
	text_char(text, '\n');
}

void listing_begin(struct listing *listing)
{
	listing->thread_width = longest_thread(listing->source);
	listing->event_width = 24;
	listing->has_hosts = source_nr_hosts(listing->source) > 1;
	listing->host_width = longest_host(listing->source);
	for (int i = 0; i < listing->nr_columns && !listing->source->is_live; i++)
		if (listing->column[i] == COLUMN_WHERE && !listing->symbols)
			listing->symbols = symbols_of_log(listing->source->trace);
	listing->nr_printed = 0;
	if (listing->format == FORMAT_TEXT)
		put_head(listing);
	if (listing->format == FORMAT_JSON)
		text_string(listing->text, "[\n");
	for (int i = 0; listing->format == FORMAT_CSV && i < listing->nr_columns; i++)
		text_printf(listing->text, "%s%s%s", i > 0 ? "," : "",
			    column_name(listing, i),
			    i + 1 == listing->nr_columns ? "\r\n" : "");
}

void listing_event(struct listing *listing, const struct event *event)
{
	if (listing->nr_printed == 0)
		listing->last_ns = event->time_ns;
	switch (listing->format) {
	case FORMAT_TEXT:
		put_text_row(listing, event);
		break;
	case FORMAT_CSV:
		put_csv_row(listing, event);
		break;
	case FORMAT_JSON:
		if (listing->nr_printed > 0)
			text_string(listing->text, ROW_SEPARATOR);
		put_json_row(listing, event);
		break;
	case FORMAT_JSONL:
		put_json_row(listing, event);
		text_char(listing->text, '\n');
		break;
	}
	listing->last_ns = event->time_ns;
	listing->nr_printed++;
}

void listing_end(struct listing *listing)
{
	if (listing->format == FORMAT_JSON)
		text_string(listing->text, listing->nr_printed > 0 ? "\n]\n" : "]\n");
	symbols_free(listing->symbols);
	listing->symbols = NULL;
	forget_fields(listing);
}
