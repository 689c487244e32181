/* SPDX-License-Identifier: MIT */
/* txtrace blocked: what threads waited for, and how long. */
#include "waits/blocked.h"

#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "live/wrapper_stats.h"

enum { OPTION_SORT = OPTION_OWN, OPTION_BY };

static const struct option_row options[] = {
	{OPTION_BY, "by", "object|thread", "a row for each object, or for each of a thread"},
	{OPTION_SORT, "sort", "total|waits|p50|p99|max|name",
	 "the order of rows; total if not given"},
	PRINTING_ROWS_EVENTS,
	PRINTING_ROW_TABLE,
	PRINTING_ROWS_OUTPUT,
	OPTIONS_END,
};

struct order {
	struct printing printing;
	struct blocked_options options;
};

static bool read_by(struct order *order)
{
	order->options.by_thread = strcmp(optarg, "thread") == 0;
	if (order->options.by_thread || strcmp(optarg, "object") == 0)
		return true;
	say("--by is object or thread, not %s", optarg);
	return false;
}

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	switch (code) {
	case OPTION_BY:
		return read_by(order);
	case OPTION_SORT:
		return blocked_parse_order(optarg, &order->options.order);
	default:
		return printing_option(&order->printing, code);
	}
}

static int report_on(struct order *order, const char *path)
{
	struct printing *printing = &order->printing;
	struct table table;

	if (!printing_begin(printing, path, source_open_mixed))
		return EXIT_TROUBLE;
	source_tell_losses(printing->source);
	coverage_tell(printing->source);
	table_open(&table, printing->text, printing->format);
	blocked_print(printing->source, &printing->selection, &order->options, &table);
	table_close(&table);
	return printing_end(printing);
}

static int run(int argc, char **argv)
{
	struct order order = {.printing = {.format = FORMAT_TEXT}};
	const char *path;
	int code;

	while ((code = options_next(&cmd_blocked, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_blocked, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	return report_on(&order, path);
}

const struct command cmd_blocked = {
	.name = "blocked",
	.arguments = "FILE",
	.summary = "tell what threads waited for, and how long",
	.options = options,
	.run = run,
};
