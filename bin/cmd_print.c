/* SPDX-License-Identifier: MIT */
/* txtrace print: the events of a file, one after the other. */
#include "columns.h"
#include "commands.h"
#include "filter.h"
#include "say.h"
#include "source.h"
#include "terminal.h"
#include "text.h"

static const struct option_row options[] = {
	OPTION_ROW_FILTER,
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	{OPTION_FORMAT, "format", "text|json|jsonl|csv", "how it is printed"},
	{OPTION_COLUMNS, "columns", "A,B,...", "what is printed of each event; see the manual"},
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
	const char *columns;
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
	case OPTION_FORMAT:
		return format_parse(optarg, &order->format);
	case OPTION_COLUMNS:
		order->columns = optarg;
		return true;
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

static int print_file(struct order *order, const char *path)
{
	static struct text text;
	struct listing listing = {.text = &text, .format = order->format};
	struct source *source;
	struct event event;

	if (!listing_choose(&listing, order->columns))
		return EXIT_TROUBLE;
	source = source_open(path, order->selection.tick_ns);
	if (!source || (order->output && source_would_be_lost(path, order->output))) {
		source_close(source);
		return EXIT_TROUBLE;
	}
	if (!order->output)
		terminal_page();
	if (!text_open(&text, order->output, order->overwrites)) {
		source_close(source);
		return EXIT_TROUBLE;
	}
	listing.source = source;
	source_tell_losses(source);
	listing_begin(&listing);
	while (!text.error && selection_next(&order->selection, source, &event))
		listing_event(&listing, &event);
	listing_end(&listing);
	source_close(source);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
	struct order order = {.format = FORMAT_TEXT};
	const char *path;
	int code;

	while ((code = options_next(&cmd_print, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_print, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	code = print_file(&order, path);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_print = {
	.name = "print",
	.arguments = "FILE",
	.summary = "print the events of a trace",
	.options = options,
	.run = run,
};
