/* SPDX-License-Identifier: MIT */
#include "cli/fields.h"

#include "cli/terminal.h"

void fields_begin(struct fields *fields)
{
	if (fields->is_json)
		text_char(fields->text, '{');
}

void fields_label(struct fields *fields, const char *label)
{
	if (fields->is_json) {
		text_string(fields->text, fields->has_member ? ",\n  " : "\n  ");
		text_json(fields->text, label);
		text_string(fields->text, ": ");
	} else {
		text_string(fields->text, terminal_color(COLOR_DIM));
		text_plain(fields->text, label, 24);
		text_string(fields->text, terminal_color(COLOR_PLAIN));
	}
	fields->has_member = true;
}

void fields_text(struct fields *fields, const char *label, const char *value)
{
	fields_label(fields, label);
	if (fields->is_json)
		text_json(fields->text, value);
	else
		text_plain(fields->text, value, 0);
	if (!fields->is_json)
		text_char(fields->text, '\n');
}

void fields_number(struct fields *fields, const char *label, unsigned long long value)
{
	fields_label(fields, label);
	text_unsigned(fields->text, value, 0, ' ');
	if (!fields->is_json)
		text_char(fields->text, '\n');
}

void fields_end(struct fields *fields)
{
	if (fields->is_json)
		text_string(fields->text, "\n}\n");
}
