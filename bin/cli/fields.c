/* SPDX-License-Identifier: MIT */
#include "cli/fields.h"

#include <ctype.h>
#include <string.h>

#include "cli/terminal.h"

void fields_begin(struct fields *fields)
{
	if (fields->is_json)
		json_begin(&fields->json, fields->text);
}

#define LABEL_COLUMNS 24
#define KEY_BYTES 64

/* Make a key of a label: lower-case letters and digits, with an underscore for what is between them. */
static const char *key_of(const char *label, char key[KEY_BYTES])
{
	size_t used = 0;

	for (; *label && used < KEY_BYTES - 1; label++) {
		if (isalnum((unsigned char)*label))
			key[used++] = (char)tolower((unsigned char)*label);
		else if (used > 0 && key[used - 1] != '_')
			key[used++] = '_';
	}
	key[used] = '\0';
	return key;
}

void fields_label(struct fields *fields, const char *label)
{
	char key[KEY_BYTES];

	if (fields->is_json) {
		json_key(&fields->json, key_of(label, key));
		return;
	}
	text_string(fields->text, terminal_color(COLOR_DIM));
	text_plain(fields->text, label, LABEL_COLUMNS);
	text_string(fields->text, terminal_color(COLOR_PLAIN));
	if (strlen(label) >= LABEL_COLUMNS)
		text_string(fields->text, "  ");
}

void fields_text(struct fields *fields, const char *label, const char *value)
{
	char key[KEY_BYTES];

	if (fields->is_json) {
		json_string(&fields->json, key_of(label, key), value);
		return;
	}
	fields_label(fields, label);
	text_plain(fields->text, value, 0);
	text_char(fields->text, '\n');
}

void fields_number(struct fields *fields, const char *label, unsigned long long value)
{
	char key[KEY_BYTES];

	if (fields->is_json) {
		json_number(&fields->json, key_of(label, key), value);
		return;
	}
	fields_label(fields, label);
	text_unsigned(fields->text, value, 0, ' ');
	text_char(fields->text, '\n');
}

void fields_bool(struct fields *fields, const char *label, bool value)
{
	char key[KEY_BYTES];

	if (fields->is_json)
		json_bool(&fields->json, key_of(label, key), value);
	else
		fields_text(fields, label, value ? "yes" : "no");
}

void fields_end(struct fields *fields)
{
	if (fields->is_json)
		json_end(&fields->json);
}
