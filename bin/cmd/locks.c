/* SPDX-License-Identifier: MIT */
/* txtrace locks: print how the threads use locks. */
#include "waits/locks.h"

#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "waits/stack_waits.h"

enum { OPTION_SORT = OPTION_OWN, OPTION_BY, OPTION_STACKS };

static const struct option_row option_rows[] = {
	{OPTION_BY, "by", "lock|site", "one row per lock, or one row per lock and call site"},
	{OPTION_SORT, "sort", "held|taken|contended|max|waiters|name",
	 "sort the locks by this; default held"},
	{OPTION_STACKS, "stacks", NULL, "the waits for locks, with one row per lock and stack of callers"},
	OUTPUT_OPTIONS_ROWS_EVENTS,
	OUTPUT_OPTIONS_ROW_TABLE_FOLDED,
	OUTPUT_OPTIONS_ROW_WIDE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	bool by_stack, is_folded;
	struct locks_options locks;
};

static bool read_by(struct options *options)
{
	options->locks.by_site = strcmp(optarg, "site") == 0;
	if (options->locks.by_site || strcmp(optarg, "lock") == 0)
		return true;
	message("--by takes lock or site, not %s", optarg);
	return false;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_STACKS:
		return options->by_stack = true;
	case OPTION_FORMAT:
		options->is_folded = strcmp(optarg, "folded") == 0;
		return options->is_folded || output_options_option(&options->output_options, code);
	case OPTION_BY:
		return read_by(options);
	case OPTION_SORT:
		return locks_parse_sort(optarg, &options->locks.order);
	default:
		return output_options_option(&options->output_options, code);
	}
}

static int report_on(struct options *options, const char *path)
{
	struct output_options *output_options = &options->output_options;
	struct table table;

	if (!output_options_begin_tables(output_options, path, &table))
		return EXIT_TROUBLE;
	if (options->is_folded) {
		stack_waits_fold(output_options->source, &output_options->selection, true, output_options->text);
		return output_options_end(output_options);
	}
	if (options->by_stack) {
		stack_waits_print(output_options->source, &output_options->selection, true, &table);
		return output_options_end_tables(output_options, &table);
	}
	locks_print(output_options->source, &output_options->selection, &options->locks, &table);
	return output_options_end_tables(output_options, &table);
}

static int run(int argc, char **argv)
{
	struct options options = {.output_options = {.format = FORMAT_TEXT}};
	const char *path;

	path = options_read_file(&cmd_locks, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return report_on(&options, path);
}

const struct command cmd_locks = {
	.name = "locks",
	.arguments = "FILE",
	.summary = "report how locks are used, and where a deadlock is possible",
	.options = option_rows,
	.run = run,
};
