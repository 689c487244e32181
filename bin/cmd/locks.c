/* SPDX-License-Identifier: MIT */
/* txtrace locks: how locks are used. */
#include "waits/locks.h"

#include <string.h>

#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "live/wrapper_stats.h"

enum { OPTION_SORT = OPTION_OWN };

static const struct option_row options[] = {
	{OPTION_SORT, "sort", "held|taken|contended|max|waiters|name",
	 "the order of locks; held if not given"},
	PRINTING_ROWS_EVENTS,
	PRINTING_ROW_TABLE,
	PRINTING_ROWS_OUTPUT,
	OPTIONS_END,
};

struct order {
	struct printing printing;
	enum locks_order sort;
};

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	switch (code) {
	case OPTION_SORT:
		return locks_parse_order(optarg, &order->sort);
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
	locks_print(printing->source, &printing->selection, order->sort, &table);
	table_close(&table);
	return printing_end(printing);
}

static int run(int argc, char **argv)
{
	struct order order = {.printing = {.format = FORMAT_TEXT}};
	const char *path;
	int code;

	while ((code = options_next(&cmd_locks, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_locks, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	return report_on(&order, path);
}

const struct command cmd_locks = {
	.name = "locks",
	.arguments = "FILE",
	.summary = "tell how locks are used, and where they may deadlock",
	.options = options,
	.run = run,
};
