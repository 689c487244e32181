/* SPDX-License-Identifier: MIT */
/* The option --format: in which form a command prints. */
#ifndef TXTRACE_CLI_FORMAT_H
#define TXTRACE_CLI_FORMAT_H

#include <stdbool.h>

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL, FORMAT_CSV };

/* Parse the argument of --format. Return false, with a message, if it is not a format. */
bool format_parse(const char *name, enum format *format);
/* Do the same as format_parse() for commands that print tables: these commands do not have JSON lines. */
bool format_parse_of_table(const char *name, enum format *format);

#endif
