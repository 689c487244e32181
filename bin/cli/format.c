/* SPDX-License-Identifier: MIT */
#include "cli/format.h"

#include <stddef.h>
#include <string.h>

#include "base/message.h"

bool format_parse(const char *name, enum format *format)
{
	static const char *const names[] = {"text", "json", "jsonl", "csv"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*format = (enum format)i;
		return true;
	}
	message("--format takes text, json, jsonl or csv, not %s", name);
	return false;
}

bool format_parse_of_table(const char *name, enum format *format)
{
	if (strcmp(name, "jsonl") != 0)
		return format_parse(name, format);
	message("--format takes text, json or csv, not jsonl");
	return false;
}
