/* SPDX-License-Identifier: MIT */
/* txtrace blocked: print the objects that threads waited for, and how long they waited. */
#include "waits/blocked.h"

#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/stack_options.h"

enum { OPTION_SORT = OPTION_AFTER_STACKS, OPTION_BY };

static const struct option_row option_rows[] = {
	{OPTION_BY, "by", "object|thread|site",
	 "one row per object, per thread and object, or per object and call site"},
	{OPTION_SORT, "sort", "total|waits|p50|p99|max|name",
	 "sort the rows by this; default total"},
	{OPTION_STACKS, "stacks", NULL, "one row per object and stack of callers"},
	OUTPUT_OPTIONS_ROWS_EVENTS,
	OUTPUT_OPTIONS_ROW_TABLE_FOLDED,
	OUTPUT_OPTIONS_ROW_WIDE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct stack_options of_stacks;
	struct blocked_options blocked;
};

static bool read_by(struct options *options)
{
	options->blocked.by_thread = strcmp(optarg, "thread") == 0;
	options->blocked.by_site = strcmp(optarg, "site") == 0;
	if (options->blocked.by_thread || options->blocked.by_site || strcmp(optarg, "object") == 0)
		return true;
	message("--by takes object, thread or site, not %s", optarg);
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
		return blocked_parse_sort(optarg, &options->blocked.order);
	default:
		return stack_options_option(&options->of_stacks, code);
	}
}

static void print(const void *arg, struct source *source, const struct selection *selection, struct table *table)
{
	const struct options *options = arg;

	blocked_print(source, selection, &options->blocked, table);
}

static int run(int argc, char **argv)
{
	struct options options = {.of_stacks.output_options.format = FORMAT_TEXT};
	const char *path;

	path = options_read_file(&cmd_blocked, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return stack_options_report(&options.of_stacks, path, false, print, &options);
}

const struct command cmd_blocked = {
	.name = "blocked",
	.arguments = "FILE",
	.summary = "report which objects threads waited for, and how long",
	.options = option_rows,
	.run = run,
};
