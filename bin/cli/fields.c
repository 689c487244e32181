/* SPDX-License-Identifier: MIT */
#include "cli/fields.h"

#include "cli/terminal.h"

void facts_begin(struct facts *facts)
{
	if (facts->is_json)
		text_char(facts->text, '{');
}

void facts_label(struct facts *facts, const char *label)
{
	if (facts->is_json) {
		text_string(facts->text, facts->has_member ? ",\n  " : "\n  ");
		text_json(facts->text, label);
		text_string(facts->text, ": ");
	} else {
		text_string(facts->text, terminal_color(COLOR_DIM));
		text_plain(facts->text, label, 24);
		text_string(facts->text, terminal_color(COLOR_PLAIN));
	}
	facts->has_member = true;
}

void facts_text(struct facts *facts, const char *label, const char *value)
{
	facts_label(facts, label);
	if (facts->is_json)
		text_json(facts->text, value);
	else
		text_plain(facts->text, value, 0);
	if (!facts->is_json)
		text_char(facts->text, '\n');
}

void facts_number(struct facts *facts, const char *label, unsigned long long value)
{
	facts_label(facts, label);
	text_unsigned(facts->text, value, 0, ' ');
	if (!facts->is_json)
		text_char(facts->text, '\n');
}

void facts_end(struct facts *facts)
{
	if (facts->is_json)
		text_string(facts->text, "\n}\n");
}
