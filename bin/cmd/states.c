/* SPDX-License-Identifier: MIT */
/* txtrace states: list when each thread ran, was ready, and was blocked. */
#include "waits/state_list.h"

#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"

static const struct option_row option_rows[] = {
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	OPTION_ROW_TIME,
	OUTPUT_OPTIONS_ROW_TABLE,
	OUTPUT_OPTIONS_ROW_WIDE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	return output_options_option(argument, code);
}

static int run(int argc, char **argv)
{
	struct output_options options = {.format = FORMAT_TEXT};
	const char *path = options_read_file(&cmd_states, argc, argv, read_option, &options);
	struct table table;

	if (!path || !output_options_begin_tables(&options, path, &table))
		return EXIT_TROUBLE;
	state_list_print(options.source, &options.selection, &table);
	return output_options_end_tables(&options, &table);
}

const struct command cmd_states = {
	.name = "states",
	.arguments = "FILE",
	.summary = "list when each thread ran, was ready, and was blocked",
	.options = option_rows,
	.run = run,
};
