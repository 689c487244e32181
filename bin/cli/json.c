/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

static void open_level(struct json *json, char bracket)
{
	text_char(json->text, bracket);
	json->level[json->depth++] = (struct json_level){.is_array = bracket == '['};
}

void json_begin(struct json *json, struct text *text)
{
	*json = (struct json){.text = text};
	open_level(json, '{');
}

void json_end(struct json *json)
{
	json->depth--;
	text_string(json->text, "\n}\n");
}

/* Write the separator after the last value, and the key. */
static void begin_value(struct json *json, const char *key, bool is_object)
{
	struct json_level *level = &json->level[json->depth - 1];
	bool begins_line = json->depth == 1 || (level->is_array && is_object);

	if (level->has_value)
		text_char(json->text, ',');
	if (begins_line)
		text_string(json->text, json->depth == 1 ? "\n  " : "\n    ");
	else if (level->has_value)
		text_char(json->text, ' ');
	level->has_value = true;
	level->has_lines = begins_line;
	if (!key)
		return;
	text_json(json->text, key);
	text_string(json->text, ": ");
}

void json_key(struct json *json, const char *key)
{
	begin_value(json, key, false);
}

void json_object(struct json *json, const char *key)
{
	begin_value(json, key, true);
	open_level(json, '{');
}

void json_array(struct json *json, const char *key)
{
	begin_value(json, key, false);
	open_level(json, '[');
}

void json_close(struct json *json)
{
	text_char(json->text, json->level[--json->depth].is_array ? ']' : '}');
}

void json_close_on_line(struct json *json)
{
	if (json->level[json->depth - 1].has_lines)
		text_string(json->text, "\n  ");
	json_close(json);
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key, false);
	text_json(json->text, value);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key, false);
	text_unsigned(json->text, value, 0, ' ');
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_digits(json, key, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	json_digits(json, key, "null");
}

void json_digits(struct json *json, const char *key, const char *digits)
{
	begin_value(json, key, false);
	text_string(json->text, digits);
}
