/* SPDX-License-Identifier: MIT */
/*
 * Labelled values: lines of text, or members of a JSON object.  The key of "lost: overwritten" in JSON is
 * lost_overwritten.
 */
#ifndef TXTRACE_CLI_FIELDS_H
#define TXTRACE_CLI_FIELDS_H

#include <stdbool.h>

#include "base/output.h"
#include "cli/json.h"

struct fields {
	struct text *text;
	bool is_json;
	struct json json; /* if is_json */
};

void fields_begin(struct fields *fields);
/* "yes" or "no", or true or false in JSON. */
void fields_bool(struct fields *fields, const char *label, bool value);
void fields_text(struct fields *fields, const char *label, const char *value);
void fields_number(struct fields *fields, const char *label, unsigned long long value);

/* Begin a value. The caller then prints the value itself: as text up to the end of the line, or as JSON. */
void fields_label(struct fields *fields, const char *label);
void fields_end(struct fields *fields);

#endif
