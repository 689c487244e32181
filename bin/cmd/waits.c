/* SPDX-License-Identifier: MIT */
/* txtrace waits: print one row for each wait. */
#include <stdlib.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "waits/wait_list.h"

enum { OPTION_SORT = OPTION_OWN, OPTION_OVER, OPTION_TOP };

static const struct option_row option_rows[] = {
	{OPTION_OVER, "over", "TIME", "only waits that are longer, such as 1ms"},
	{OPTION_SORT, "sort", "start|duration|object",
	 "sort the rows by this; default start"},
	{OPTION_TOP, "top", "N", "only the first N rows"},
	OUTPUT_OPTIONS_ROWS_EVENTS,
	OUTPUT_OPTIONS_ROW_TABLE,
	OUTPUT_OPTIONS_ROW_WIDE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	struct wait_list_options waits;
};

static bool read_over(struct options *options)
{
	char *end;
	double ns = strtod(optarg, &end) * unit_ns(end);

	if (end != optarg && unit_ns(end) != 0 && ns >= 0 && ns < 9e18) {
		options->waits.over_ns = (int64_t)(ns + 0.5);
		return true;
	}
	message("--over takes a duration such as 1ms, not %s", optarg);
	return false;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_OVER:
		return read_over(options);
	case OPTION_SORT:
		return wait_list_parse_sort(optarg, &options->waits.order);
	case OPTION_TOP:
		return options_is_count("top", "rows", optarg, &options->waits.limit);
	default:
		return output_options_option(&options->output_options, code);
	}
}

static int run(int argc, char **argv)
{
	struct options options = {.output_options = {.format = FORMAT_TEXT}, .waits = {.over_ns = WAIT_LIST_ALL}};
	const char *path = options_read_file(&cmd_waits, argc, argv, read_option, &options);
	struct table table;

	if (!path || !output_options_begin_tables(&options.output_options, path, &table))
		return EXIT_TROUBLE;
	wait_list_print(options.output_options.source, &options.output_options.selection, &options.waits, &table);
	return output_options_end_tables(&options.output_options, &table);
}

const struct command cmd_waits = {
	.name = "waits",
	.arguments = "FILE",
	.summary = "list waits, one row for each: how long, for what, held and ended by whom",
	.options = option_rows,
	.run = run,
};
