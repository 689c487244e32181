/* SPDX-License-Identifier: MIT */
/* The option --format, which selects the form of the output. */
#ifndef TXTRACE_CLI_FORMAT_H
#define TXTRACE_CLI_FORMAT_H

#include <stdbool.h>

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL, FORMAT_CSV };

/* Parse the argument of --format. If the argument is not a format, print a message and return false. */
bool format_parse(const char *name, enum format *format);
/* Do the same as format_parse() for commands that print tables: these commands do not have JSON lines. */
bool format_parse_of_table(const char *name, enum format *format);

#endif
