/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON, value by value.  This module adds commas, blanks, line ends and quotes.  Each member of the outermost
 * object begins a line, and so does each object in an array.  Everything else stays on one line.
 */
#ifndef TXTRACE_CLI_JSON_H
#define TXTRACE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"

#define JSON_DEPTH 8 /* largest number of open objects and arrays */

struct json {
	struct text *text;
	unsigned int depth; /* number of open objects and arrays */
	struct json_level {
		bool is_array;
		bool has_value;
		bool has_lines; /* an array of objects */
	} level[JSON_DEPTH];
};

/* Begin the outermost object. */
void json_begin(struct json *json, struct text *text);
/* End the outermost object. */
void json_end(struct json *json);

/* In the functions below, key is NULL for a value of an array. */

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* Close the innermost object or array. */
void json_close(struct json *json);
/* Do the same, but the bracket of an array of objects gets a line of its own. */
void json_close_on_line(struct json *json);

void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/* Put a number that the caller has already converted to text. */
void json_digits(struct json *json, const char *key, const char *digits);

/* Begin a value.  The caller then prints the value itself. */
void json_key(struct json *json, const char *key);

#endif
