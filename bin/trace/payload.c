/* SPDX-License-Identifier: MIT */
#include "trace/payload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"

struct source_fields {
	struct px_fields *fields;
};

/* The descriptions of the command line. */
static struct given {
	char *event;
	const char *text;
	struct given *next;
} * given;

bool payload_option(const char *argument)
{
	const struct px_fields_model model = px_fields_native();
	const char *text = strchr(argument, '=');
	struct px_fields_error error;
	struct px_fields *fields;
	bool is_reference;
	struct given *made;

	if (!text || text == argument) {
		message("--type needs EVENT=FIELDS, not \"%s\"", argument);
		return false;
	}
	text++;
	if (px_fields_parse(text, strlen(text), &model, &fields, &error) != 0) {
		message("--type: column %zu of \"%s\": %s", error.column, text, error.what);
		return false;
	}
	is_reference = !fields->top;
	px_fields_free(fields);
	if (is_reference) {
		message("--type: \"%s\" has no fields, and txtrace does not look for types in the program", text);
		return false;
	}
	made = must(calloc(1, sizeof(*made)));
	made->event = must(strndup(argument, (size_t)(text - argument) - 1));
	made->text = text;
	made->next = given;
	given = made;
	return true;
}

static const struct given *find_given(const char *event)
{
	const struct given *i = given;

	while (i && strcmp(i->event, event) != 0)
		i = i->next;
	return i;
}

static bool has_type(struct source *source, const char *name)
{
	bool is_found = false;
	trace_event_id_t id;
	int unavailable;

	while (!source->file.foreign &&
	       posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) == 0 && !unavailable)
		is_found |= id > POSIX_TRACE_UNNAMED_USEREVENT && strcmp(source_type_name(source, id), name) == 0;
	posix_trace_eventtypelist_rewind(source->trace);
	return is_found;
}

void payload_report_unused(struct source *source)
{
	for (const struct given *i = given; i; i = i->next)
		if (!has_type(source, i->event))
			message("--type: the trace has no event type \"%s\" of a log", i->event);
}

static struct px_fields *read_fields(struct source *source, trace_event_id_t type)
{
	const struct px_fields_model model = px_fields_native();
	const struct given *own = type > POSIX_TRACE_UNNAMED_USEREVENT ?
					  find_given(source_type_name(source, type)) :
					  NULL;
	char text[PX_FIELDS_TEXT_MAX];
	struct px_fields *fields = NULL;
	struct px_fields_error error;
	size_t length = 0;

	if (own)
		return px_fields_parse(own->text, strlen(own->text), &model, &fields, &error) == 0 ? fields :
												     NULL;
	if (txtrace_get_type_description(source->trace, type, text, sizeof(text), &length) != 0 ||
	    length == 0 || px_fields_parse(text, length, &model, &fields, &error) != 0)
		return NULL;
	if (!fields->top) {
		px_fields_free(fields);
		return NULL;
	}
	return fields;
}

/* While a trace goes on, a type without a description may get one. */
const struct px_fields *payload_fields(struct source *source, trace_event_id_t type)
{
	bool may_come = source->is_live || source->is_followed;
	struct source_type *known;

	if (type >= SOURCE_TYPES || source->file.foreign)
		return NULL;
	known = &source->type[type];
	if (!known->fields || (may_come && !known->fields->fields)) {
		if (!known->fields)
			known->fields = must(calloc(1, sizeof(*known->fields)));
		known->fields->fields = read_fields(source, type);
	}
	return known->fields->fields;
}

void payload_forget(struct source_type *type)
{
	if (type->fields)
		px_fields_free(type->fields->fields);
	free(type->fields);
	type->fields = NULL;
}

bool payload_is(struct source *source, const struct event *event)
{
	return !event->is_call && payload_fields(source, event->type);
}

/* Values. */

/* Print the least digits that are read back as the same number. */
static void put_real(struct text *text, const struct px_field_value *value, enum payload_style style)
{
	char digits[40];

	if (!isfinite(value->real)) {
		const char *name = isnan(value->real) ? "nan" : value->real < 0 ? "-inf" : "inf";

		if (style == PAYLOAD_JSON)
			text_json(text, name);
		else
			text_string(text, name);
		return;
	}
	for (unsigned int i = 1; i <= value->digits; i++) {
		snprintf(digits, sizeof(digits), "%.*g", (int)i, value->real);
		if (value->digits <= 9 ? (double)strtof(digits, NULL) == value->real :
					 strtod(digits, NULL) == value->real)
			break;
	}
	text_string(text, digits);
}

/* Print the characters between quotes, as C writes them. */
static void put_quoted(struct text *text, const char *string, size_t length, char quote)
{
	text_char(text, quote);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c == (unsigned char)quote || c == '\\') {
			text_char(text, '\\');
			text_char(text, (char)c);
		} else if (c == '\n' || c == '\t') {
			text_string(text, c == '\n' ? "\\n" : "\\t");
		} else if (c < ' ' || c >= 0x7f) {
			text_string(text, "\\x");
			text_hex(text, c, 2);
		} else {
			text_char(text, (char)c);
		}
	}
	text_char(text, quote);
}

static void put_text(struct text *text, const char *string, size_t length, enum payload_style style,
		     char quote)
{
	char *copy;

	if (style == PAYLOAD_TEXT) {
		put_quoted(text, string, length, quote);
		return;
	}
	copy = must(strndup(string, length));
	if (style == PAYLOAD_JSON)
		text_json(text, copy);
	else
		text_csv(text, copy);
	free(copy);
}

void payload_value(struct text *text, const struct px_field_value *value, enum payload_style style)
{
	char character = (char)value->number;

	if (value->is_text) {
		put_text(text, value->text, value->length, style, '"');
		if (value->is_cut && style == PAYLOAD_TEXT)
			text_string(text, "...");
	} else if (value->kind == PX_FIELD_CHAR) {
		put_text(text, &character, 1, style, '\'');
	} else if (value->name) {
		if (style == PAYLOAD_JSON)
			text_json(text, value->name);
		else
			text_string(text, value->name);
	} else if (value->kind == PX_FIELD_FLOAT) {
		put_real(text, value, style);
	} else if (value->kind == PX_FIELD_BOOL) {
		text_string(text, value->number ? "true" : "false");
	} else if (value->kind == PX_FIELD_POINTER) {
		text_string(text, style == PAYLOAD_JSON ? "\"0x" : "0x");
		text_hex(text, value->number, 0);
		if (style == PAYLOAD_JSON)
			text_char(text, '"');
	} else if (value->is_signed) {
		text_signed(text, (int64_t)value->number);
	} else {
		text_unsigned(text, value->number, 0, ' ');
	}
}

/* All fields. */

struct printer {
	struct text *text;
	bool is_json, needs_separator;
};

static void print_step(void *argument, enum px_fields_step step, const char *name,
		       const struct px_field_value *value)
{
	static const char marks[] = {[PX_FIELDS_BEGIN_STRUCT] = '{',
				     [PX_FIELDS_END_STRUCT] = '}',
				     [PX_FIELDS_BEGIN_ARRAY] = '[',
				     [PX_FIELDS_END_ARRAY] = ']'};
	bool is_end = step == PX_FIELDS_END_STRUCT || step == PX_FIELDS_END_ARRAY;
	struct printer *printer = argument;

	if (!is_end && printer->needs_separator)
		text_char(printer->text, printer->is_json ? ',' : ' ');
	printer->needs_separator = step == PX_FIELDS_VALUE || is_end;
	if (!is_end && name) {
		if (printer->is_json)
			text_json(printer->text, name);
		else
			text_string(printer->text, name);
		text_char(printer->text, printer->is_json ? ':' : '=');
	}
	if (step == PX_FIELDS_VALUE)
		payload_value(printer->text, value, printer->is_json ? PAYLOAD_JSON : PAYLOAD_TEXT);
	else
		text_char(printer->text, marks[step]);
}

void payload_print(struct text *text, struct source *source, const struct event *event)
{
	struct printer printer = {.text = text};
	size_t bytes = px_fields_walk(payload_fields(source, event->type), event->data, event->size,
				      print_step, &printer);

	if (bytes == event->size)
		return;
	if (printer.needs_separator)
		text_char(text, ' ');
	if (bytes > event->size) {
		text_char(text, '(');
		text_unsigned(text, bytes - event->size, 0, ' ');
		text_string(text, " of ");
		text_unsigned(text, bytes, 0, ' ');
		text_string(text, " bytes are missing)");
	} else {
		text_char(text, '+');
		text_bytes(text, event->data + bytes, event->size - bytes);
	}
}

void payload_json(struct text *text, struct source *source, const struct event *event)
{
	struct printer printer = {.text = text, .is_json = true};
	size_t bytes;

	text_char(text, '{');
	bytes = px_fields_walk(payload_fields(source, event->type), event->data, event->size,
			       print_step, &printer);
	if (bytes != event->size && printer.needs_separator)
		text_char(text, ',');
	if (bytes > event->size) {
		text_string(text, "\"missing_bytes\":");
		text_unsigned(text, bytes - event->size, 0, ' ');
	} else if (bytes < event->size) {
		text_string(text, "\"more_hex\":\"");
		text_bytes(text, event->data + bytes, event->size - bytes);
		text_char(text, '"');
	}
	text_char(text, '}');
}

bool payload_get(struct source *source, const struct event *event, const char *path,
		 struct px_field_value *value)
{
	const struct px_fields *fields = payload_is(source, event) ? payload_fields(source, event->type) :
								     NULL;
	struct px_field_place place;

	return fields && px_fields_find(fields, path, &place) &&
	       px_fields_get(fields, &place, event->data, event->size, value);
}
