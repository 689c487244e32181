/* SPDX-License-Identifier: MIT */
#include "trace/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/native.h"
#include "trace/symbols.h"
#include "trace/type_lines.h"

struct source_fields {
	struct px_fields *fields;
	char *text; /* from which they were parsed, or the description of a span; NULL if there are none */
	bool is_final; /* no other description can come */
	bool is_listed;
	struct payload_field *list; /* payload_list() */
	size_t nr_listed;
	bool is_short_reported;
	bool is_of_program; /* the fields come from debugging information of the program whose modules the log lists */
	bool is_other_reported;
};

#define PAYLOAD_BYTES "u8 data[]" /* the description of what is not known */
#define TYPES_LISTED 65536 /* no trace has more event types */

static bool is_user_type(const struct source *source, trace_event_id_t type)
{
	return source->file.foreign ? type >= FOREIGN_TYPES + NATIVE_USER && type < SOURCE_TYPES :
				      type >= POSIX_TRACE_UNNAMED_USEREVENT + 1 && type < FOREIGN_TYPES;
}

/* The system events that have one number as data. */
static const char *system_fields(const struct source *source, trace_event_id_t type)
{
	if (source->file.foreign)
		return NULL;
	switch (type) {
	case POSIX_TRACE_STOP:
		return "i32 auto";
	case POSIX_TRACE_ERROR:
		return "i32 error";
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
		return "i32 of_log"; /* without data, the stream has lost the events */
	default:
		return NULL;
	}
}

/* Call take() for each type that may have fields. */
static void each_type(struct source *source, void (*take)(struct source *, trace_event_id_t, void *),
			   void *argument)
{
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_rewind(source->trace);
	for (int i = 0; i < TYPES_LISTED; i++) {
		if (posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) != 0 || unavailable)
			break;
		if (is_user_type(source, id) || system_fields(source, id))
			take(source, id, argument);
	}
	posix_trace_eventtypelist_rewind(source->trace);
}

static void mark_used(struct source *source, trace_event_id_t type, void *argument)
{
	struct type_line *line = type_lines_find(&type_lines_given, source_type_name(source, type));

	(void)argument;
	if (line && is_user_type(source, type))
		line->is_used = true;
}

void payload_begin(struct source *source)
{
	if (!source->is_live)
		type_lines_beside(&source->type_lines, source->path);
	if (source->is_live || source->is_followed) /* the event types may come later */
		for (struct type_line *i = type_lines_given.first; i; i = i->next)
			i->is_used = true;
	else if (type_lines_given.first)
		each_type(source, mark_used, NULL);
}

void payload_report_unused(void)
{
	for (const struct type_line *i = type_lines_given.first; i; i = i->next)
		if (i->is_option && !i->is_used)
			message("--type: the trace has no user event type \"%s\"", i->event);
}

static const struct type_line *line_of(const struct source *source, const char *event)
{
	const struct type_line *line = type_lines_find(&type_lines_given, event);

	return line ? line : type_lines_find(&source->type_lines, event);
}

/*
 * Describe a type of the program of a trace by its debugging information.  is_of_program: the program has named it.
 * Then a merged log does not tell which of its programs that was.
 */
static bool describe_reference(struct source *source, const char *reference, bool is_of_program,
			       char text[PX_FIELDS_TEXT_MAX + 1], char why[SYMBOLS_WHY_BYTES])
{
	struct symbols *symbols = source_symbols(source);
	struct txtrace_origin origin;

	if (!symbols || (is_of_program && txtrace_get_origin(source->trace, 1, &origin) == 0)) {
		snprintf(why, SYMBOLS_WHY_BYTES, "is not known: %s",
			 symbols ? "the log was made of several" : "a trace buffer of ThreadX names no program");
		return false;
	}
	return symbols_type(symbols, reference, &source->model, text, why);
}

/* Replace the name of a type by its description from the debugging information of the program. */
static void resolve(struct source *source, const char *event, const char *origin, struct source_fields *to)
{
	char text[PX_FIELDS_TEXT_MAX + 1];
	char why[SYMBOLS_WHY_BYTES];
	struct px_fields *named = to->fields;
	struct px_fields_error error;

	to->fields = NULL;
	to->is_final = true; /* a type of the program stays as it is */
	to->is_of_program = origin == source->path;
	if (!describe_reference(source, named->reference, to->is_of_program, text, why))
		message("%s: %s of %s %s; its data are shown as bytes", origin, named->reference, event, why);
	else if (px_fields_parse(text, strlen(text), &source->model, &to->fields, &error) == 0)
		to->text = must(strdup(text));
	px_fields_free(named);
}

/* The library converts the data of system events to the form of this machine. */
static const struct px_fields_model *model_of(const struct source *source, trace_event_id_t type)
{
	static struct px_fields_model ours;

	ours = px_fields_native();
	return system_fields(source, type) ? &ours : &source->model;
}

static void parse(struct source *source, trace_event_id_t type, const char *origin, const char *text, size_t length,
		  struct source_fields *to)
{
	struct px_fields_error error;
	struct px_span span;
	bool is_span = px_span_parse(text, length, &span);

	if (!is_span && px_fields_parse(text, length, model_of(source, type), &to->fields, &error) != 0)
		return;
	if (!is_span && !to->fields->top) {
		resolve(source, source_type_name(source, type), origin, to);
		return;
	}
	to->text = must(strndup(text, length));
	for (char *at = to->text; (at = strpbrk(at, "\r\n\t"));)
		*at = ' ';
}

static void read_fields(struct source *source, trace_event_id_t type, struct source_fields *to)
{
	const char *fixed = system_fields(source, type);
	const struct type_line *line = fixed ? NULL : line_of(source, source_type_name(source, type));
	char text[PX_FIELDS_TEXT_MAX];
	size_t length = 0;

	if (fixed)
		parse(source, type, source->path, fixed, strlen(fixed), to);
	else if (line)
		parse(source, type, line->origin, line->text, strlen(line->text), to);
	else if (txtrace_get_type_description(source->trace, type, text, sizeof(text), &length) == 0 && length > 0)
		parse(source, type, source->path, text, length, to);
}

/* While a trace goes on, a type without a description may get one. */
const struct px_fields *payload_fields(struct source *source, trace_event_id_t type)
{
	bool may_come = source->is_live || source->is_followed;
	struct source_fields *known;

	if (!is_user_type(source, type) && !system_fields(source, type))
		return NULL;
	if (!source->type[type].fields)
		source_hold_type(source, type)->fields = must(calloc(1, sizeof(*known)));
	known = source->type[type].fields;
	if (!known->is_final) {
		read_fields(source, type, known);
		known->is_final = known->is_final || known->fields || !may_come;
	}
	return known->fields;
}

const char *payload_description(struct source *source, trace_event_id_t type)
{
	const struct source_fields *known;

	payload_fields(source, type);
	known = type < SOURCE_TYPES ? source->type[type].fields : NULL;
	return known && known->text ? known->text : "";
}

struct each {
	payload_take *take;
	void *argument;
};

static void take_type(struct source *source, trace_event_id_t type, void *argument)
{
	const struct px_fields *fields = payload_fields(source, type);
	struct each *each = argument;

	if (fields)
		each->take(each->argument, type, fields);
}

void payload_each_type(struct source *source, payload_take *take, void *argument)
{
	struct each each = {take, argument};

	each_type(source, take_type, &each);
	/* Event types of --type that are not there yet. */
	for (const struct type_line *i = type_lines_given.first; i && (source->is_live || source->is_followed);
	     i = i->next) {
		struct source_fields later = {.fields = NULL};

		parse(source, POSIX_TRACE_UNNAMED_USEREVENT, i->origin, i->text, strlen(i->text), &later);
		if (later.fields)
			take(argument, 0, later.fields);
		px_fields_free(later.fields);
		free(later.text);
	}
}

struct each_span {
	payload_span *take;
	void *argument;
};

static void take_span(struct source *source, trace_event_id_t type, void *argument)
{
	const struct each_span *each = argument;
	char text[PX_FIELDS_TEXT_MAX];
	struct px_span span;
	size_t length = 0;

	if (txtrace_get_type_description(source->trace, type, text, sizeof(text), &length) == 0 && length > 0 &&
	    px_span_parse(text, length, &span))
		each->take(each->argument, source_type_name(source, type), &span);
}

void payload_each_span(struct source *source, payload_span *take, void *argument)
{
	struct each_span each = {take, argument};

	each_type(source, take_span, &each);
}

/* A child that is not known to run another program has its trace points in the modules of the first one. */
static bool is_listed(struct source *source, const struct event *event)
{
	return event->code != 0 && (map_find(&source->programs.first_of, (uint64_t)event->pid) != 0 ||
				    symbols_has(source_symbols(source), event->code));
}

struct merge {
	bool is_read;
	bool has_others[SOURCE_TYPES]; /* the type has events of a program other than that whose modules are listed */
};

/* Return true if all events of a type are from the program whose modules the log lists.  The log is read once. */
static bool is_of_one_program(struct source *source, trace_event_id_t type, struct merge *merge)
{
	struct event event;

	if (merge->is_read)
		return !merge->has_others[type];
	merge->is_read = true;
	source_rewind(source);
	while (source_next(source, &event))
		if (event.address != 0 && !merge->has_others[event.type])
			merge->has_others[event.type] = !is_listed(source, &event);
	source_rewind(source);
	return !merge->has_others[type];
}

static void describe_for_merge(struct source *source, trace_event_id_t type, void *argument)
{
	char text[PX_FIELDS_TEXT_MAX + 1], why[SYMBOLS_WHY_BYTES];
	struct px_fields_error error;
	struct px_fields *fields;
	struct px_span span;
	size_t length = 0;

	if (!is_user_type(source, type) ||
	    txtrace_get_type_description(source->trace, type, text, PX_FIELDS_TEXT_MAX, &length) != 0 ||
	    length == 0 || px_span_parse(text, length, &span) ||
	    px_fields_parse(text, length, &source->model, &fields, &error) != 0)
		return;
	if (!fields->top && !describe_reference(source, fields->reference, true, text, why)) {
		message("%s: %s of %s %s; its data are bytes in the merged log", source->path, fields->reference,
			source_type_name(source, type), why);
		strcpy(text, PAYLOAD_BYTES);
	} else if (!fields->top && !is_of_one_program(source, type, argument)) {
		message("%s: code that is in no file of the program, perhaps of another one, has recorded %s, too; its "
			"data are bytes in the merged log, because its %s may be another one",
			source->path, source_type_name(source, type), fields->reference);
		strcpy(text, PAYLOAD_BYTES);
	}
	if (!fields->top && txtrace_trid_describe_type(source->trace, type, text) != 0)
		txtrace_trid_describe_type(source->trace, type, PAYLOAD_BYTES); /* there is no room */
	px_fields_free(fields);
}

void payload_describe_for_merge(struct source *source)
{
	struct merge *merge = must(calloc(1, sizeof(*merge)));

	if (!source->file.foreign)
		each_type(source, describe_for_merge, merge);
	free(merge);
}

static void list_field(void *argument, const char *path, const struct px_field_place *place)
{
	static const char prefix[] = "data.";
	struct source_fields *known = argument;
	size_t length = strlen(prefix) + strlen(path) + 1;
	struct payload_field *field;

	known->list = must(reallocarray(known->list, known->nr_listed + 1, sizeof(*known->list)));
	field = &known->list[known->nr_listed++];
	field->label = must(malloc(length));
	snprintf(field->label, length, "%s%s", prefix, path);
	field->path = field->label + strlen(prefix);
	field->place = *place;
}

const struct payload_field *payload_list(struct source *source, trace_event_id_t type, size_t *nr)
{
	const struct px_fields *fields = payload_fields(source, type);
	struct source_fields *known = fields ? source->type[type].fields : NULL;

	*nr = 0;
	if (!known)
		return NULL;
	if (!known->is_listed)
		px_fields_list(fields, PAYLOAD_FIELDS_MAX, list_field, known);
	known->is_listed = true;
	*nr = known->nr_listed;
	return known->list;
}

void payload_forget(struct source_type *type)
{
	if (type->fields) {
		for (size_t i = 0; i < type->fields->nr_listed; i++)
			free(type->fields->list[i].label);
		free(type->fields->list);
		px_fields_free(type->fields->fields);
		free(type->fields->text);
	}
	free(type->fields);
	type->fields = NULL;
}

const unsigned char *payload_bytes(const struct source *source, const struct event *event)
{
	static unsigned char bytes[4 * sizeof(uint32_t)];

	if (!source->file.foreign || !source->file.byte_swapped || event->size > sizeof(bytes))
		return event->data;
	for (size_t i = 0; i < event->size; i++)
		bytes[i] = event->data[i ^ 3];
	return bytes;
}

/* The library converts the data of calls and of system events, and the words of ThreadX trace buffers. */
uint64_t payload_number(const struct source *source, const struct event *event, size_t offset, size_t bytes)
{
	bool is_ours = source->file.foreign || event->is_call || event->type < POSIX_TRACE_UNNAMED_USEREVENT;
	bool is_big = is_ours ? px_fields_native().is_big : source->model.is_big;
	uint64_t number = 0;

	for (size_t i = 0; i < bytes; i++)
		number = number << 8 | event->data[offset + (is_big ? i : bytes - 1 - i)];
	return number;
}

/* Say once for each type that its data are too short for it.  Truncated data are marked as such. */
static void report_short(struct source *source, const struct event *event, const struct px_fields *fields)
{
	struct source_fields *known = source->type[event->type].fields;

	if (known->is_short_reported || event->is_truncated || event->size >= fields->top->size)
		return;
	known->is_short_reported = true;
	message("%s: an event %s has %zu bytes of data, and its description %u: the missing fields are not shown",
		source->path, event->name, event->size, fields->top->size);
}

/* Return true if the event is from a program that is not the one whose types are known.  Say so once for each type. */
static bool is_of_other_program(struct source *source, const struct event *event)
{
	struct source_fields *known = source->type[event->type].fields;

	if (!known->is_of_program || event->address == 0 || is_listed(source, event))
		return false;
	if (!known->is_other_reported)
		message("%s: events %s of code that is in no file of the program, perhaps of another one, are shown as "
			"bytes, because its types may not be theirs",
			source->path, event->name);
	known->is_other_reported = true;
	return true;
}

bool payload_is(struct source *source, const struct event *event)
{
	const struct px_fields *fields = event->is_call ? NULL : payload_fields(source, event->type);

	/* The gap of a stream has no data, and the same event of a log has some: without data, nothing is missing. */
	if (event->size == 0 && system_fields(source, event->type))
		return false;
	if (!fields || is_of_other_program(source, event))
		return false;
	report_short(source, event, fields);
	return true;
}

bool payload_get(struct source *source, const struct event *event, const char *path,
		 struct px_field_value *value)
{
	const struct px_fields *fields = payload_is(source, event) ? payload_fields(source, event->type) :
								     NULL;
	struct px_field_place place;

	return fields && px_fields_find(fields, path, &place) &&
	       px_fields_get(fields, &place, payload_bytes(source, event), event->size, value);
}

bool payload_value_at(struct source *source, const struct event *event, const struct payload_field *field,
		      struct px_field_value *value)
{
	return px_fields_get(payload_fields(source, event->type), &field->place, payload_bytes(source, event),
			     event->size, value);
}
