/* SPDX-License-Identifier: MIT */
/* How the values of payloads are written: as text, CSV or JSON. */
#include "trace/payload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void payload_real(struct text *text, double real, unsigned int most, enum payload_style style)
{
	char digits[40];

	if (!isfinite(real)) {
		const char *name = isnan(real) ? "nan" : real < 0 ? "-inf" : "inf";

		if (style == PAYLOAD_JSON)
			text_json(text, name);
		else
			text_string(text, name);
		return;
	}
	for (unsigned int i = 1; i <= most; i++) {
		snprintf(digits, sizeof(digits), "%.*g", (int)i, real);
		if (most <= 9 ? (double)strtof(digits, NULL) == real : strtod(digits, NULL) == real)
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
		payload_real(text, value->real, value->digits, style);
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
	const unsigned char *data = payload_bytes(source, event);
	size_t bytes = px_fields_walk(payload_fields(source, event->type), data, event->size, print_step, &printer);

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
		text_words(text, data + bytes, event->size - bytes);
	}
}

void payload_json(struct text *text, struct source *source, const struct event *event)
{
	const unsigned char *data = payload_bytes(source, event);
	struct printer printer = {.text = text, .is_json = true};
	size_t bytes;

	text_char(text, '{');
	bytes = px_fields_walk(payload_fields(source, event->type), data, event->size, print_step, &printer);
	if (bytes != event->size && printer.needs_separator)
		text_char(text, ',');
	if (bytes > event->size) {
		text_string(text, "\"missing_bytes\":");
		text_unsigned(text, bytes - event->size, 0, ' ');
	} else if (bytes < event->size) {
		text_string(text, "\"more_hex\":\"");
		text_bytes(text, data + bytes, event->size - bytes);
		text_char(text, '"');
	}
	text_char(text, '}');
}
