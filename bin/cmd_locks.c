/* SPDX-License-Identifier: MIT */
/* txtrace locks: how locks are used. */
#include "locks.h"

#include <string.h>

#include "commands.h"
#include "coverage.h"
#include "filter.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

enum { OPTION_SORT = OPTION_OWN };

static const struct option_row options[] = {
	{OPTION_SORT, "sort", "held|taken|contended|max|waiters|name",
	 "the order of locks; held if not given"},
	OPTION_ROW_FILTER,
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	{OPTION_FORMAT, "format", "text|json|csv", "how it is printed"},
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	OPTION_ROW_TICK,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct order {
	struct selection selection;
	enum format format;
	enum locks_order sort;
	const char *output;
	bool overwrites;
};

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	int taken = selection_option(&order->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_SORT:
		return locks_parse_order(optarg, &order->sort);
	case OPTION_FORMAT:
		return format_parse_of_table(optarg, &order->format);
	case 'o':
		order->output = optarg;
		return true;
	case OPTION_FORCE:
		order->overwrites = true;
		return true;
	default:
		return terminal_option(code, optarg);
	}
}

static int report_on(const struct order *order, const char *path)
{
	static struct text text;
	struct table table;
	struct source *source = source_open_mixed(path, order->selection.tick_ns);
	int code = EXIT_TROUBLE;

	if (!source || (order->output && source_would_be_lost(path, order->output))) {
		source_close(source);
		return EXIT_TROUBLE;
	}
	if (!order->output)
		terminal_page();
	if (text_open(&text, order->output, order->overwrites)) {
		source_tell_losses(source);
		coverage_tell(source);
		table_open(&table, &text, order->format);
		locks_print(source, &order->selection, order->sort, &table);
		table_close(&table);
		if (text_close(&text, true))
			code = EXIT_FINE;
	}
	source_close(source);
	return code;
}

static int run(int argc, char **argv)
{
	struct order order = {.format = FORMAT_TEXT};
	const char *path;
	int code;

	while ((code = options_next(&cmd_locks, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_locks, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	code = report_on(&order, path);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_locks = {
	.name = "locks",
	.arguments = "FILE",
	.summary = "tell how locks are used, and where they may deadlock",
	.options = options,
	.run = run,
};
