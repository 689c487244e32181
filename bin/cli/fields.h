/* SPDX-License-Identifier: MIT */
/* Facts: lines of text with a label each, or members of an object of JSON. */
#ifndef TXTRACE_CLI_FIELDS_H
#define TXTRACE_CLI_FIELDS_H

#include <stdbool.h>

#include "base/output.h"

struct facts {
	struct text *text;
	bool is_json;
	bool has_member;
};

void facts_begin(struct facts *facts);
void facts_text(struct facts *facts, const char *label, const char *value);
void facts_number(struct facts *facts, const char *label, unsigned long long value);

/* What follows is the value: as text up to the end of the line, or as JSON. */
void facts_label(struct facts *facts, const char *label);
void facts_end(struct facts *facts);

#endif
