/* SPDX-License-Identifier: MIT */
#include "cli/fields.h"

#include "cli/terminal.h"

void fields_begin(struct fields *fields)
{
	if (fields->is_json)
		json_begin(&fields->json, fields->text);
}

void fields_label(struct fields *fields, const char *label)
{
	if (fields->is_json) {
		json_key(&fields->json, label);
		return;
	}
	text_string(fields->text, terminal_color(COLOR_DIM));
	text_plain(fields->text, label, 24);
	text_string(fields->text, terminal_color(COLOR_PLAIN));
}

void fields_text(struct fields *fields, const char *label, const char *value)
{
	if (fields->is_json) {
		json_string(&fields->json, label, value);
		return;
	}
	fields_label(fields, label);
	text_plain(fields->text, value, 0);
	text_char(fields->text, '\n');
}

void fields_number(struct fields *fields, const char *label, unsigned long long value)
{
	if (fields->is_json) {
		json_number(&fields->json, label, value);
		return;
	}
	fields_label(fields, label);
	text_unsigned(fields->text, value, 0, ' ');
	text_char(fields->text, '\n');
}

void fields_end(struct fields *fields)
{
	if (fields->is_json)
		json_end(&fields->json);
}
