/* SPDX-License-Identifier: MIT */
/* txtrace locks: print how the threads use locks. */
#include "waits/locks.h"

#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/stack_options.h"

enum { OPTION_SORT = OPTION_AFTER_STACKS, OPTION_BY };

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
	struct stack_options of_stacks;
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
	case OPTION_BY:
		return read_by(options);
	case OPTION_SORT:
		return locks_parse_sort(optarg, &options->locks.order);
	default:
		return stack_options_option(&options->of_stacks, code);
	}
}

static void print(const void *arg, struct source *source, const struct selection *selection, struct table *table)
{
	const struct options *options = arg;

	locks_print(source, selection, &options->locks, table);
}

static int run(int argc, char **argv)
{
	struct options options = {.of_stacks.output_options.format = FORMAT_TEXT};
	const char *path;

	path = options_read_file(&cmd_locks, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return stack_options_report(&options.of_stacks, path, true, print, &options);
}

const struct command cmd_locks = {
	.name = "locks",
	.arguments = "FILE",
	.summary = "report how locks are used, and where a deadlock is possible",
	.options = option_rows,
	.run = run,
};
