/* SPDX-License-Identifier: MIT */
/* txtrace blocked: what threads waited for, and how long. */
#include "blocked.h"

#include <string.h>

#include "commands.h"
#include "coverage.h"
#include "filter.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

enum { OPTION_SORT = OPTION_OWN, OPTION_BY };

static const struct option_row options[] = {
	{OPTION_BY, "by", "object|thread", "a row for each object, or for each of a thread"},
	{OPTION_SORT, "sort", "total|waits|p50|p99|max|name",
	 "the order of rows; total if not given"},
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
	struct blocked_options options;
	const char *output;
	bool overwrites;
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
	int taken = selection_option(&order->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_BY:
		return read_by(order);
	case OPTION_SORT:
		return blocked_parse_order(optarg, &order->options.order);
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
		blocked_print(source, &order->selection, &order->options, &table);
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

	while ((code = options_next(&cmd_blocked, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_blocked, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	code = report_on(&order, path);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_blocked = {
	.name = "blocked",
	.arguments = "FILE",
	.summary = "tell what threads waited for, and how long",
	.options = options,
	.run = run,
};
