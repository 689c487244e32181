/* SPDX-License-Identifier: MIT */
/* txtrace print: the events of a file, one after the other. */
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "trace/columns.h"

static const struct option_row options[] = {
	PRINTING_ROWS_EVENTS,
	{OPTION_FORMAT, "format", "text|json|jsonl|csv", "how it is printed"},
	{OPTION_COLUMNS, "columns", "A,B,...", "what is printed of each event; see the manual"},
	PRINTING_ROWS_OUTPUT,
	OPTIONS_END,
};

struct order {
	struct printing printing;
	const char *columns;
};

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	switch (code) {
	case OPTION_FORMAT:
		return format_parse(optarg, &order->printing.format);
	case OPTION_COLUMNS:
		order->columns = optarg;
		return true;
	default:
		return printing_option(&order->printing, code);
	}
}

static int print_file(struct order *order, const char *path)
{
	struct printing *printing = &order->printing;
	struct listing listing = {.format = printing->format};
	struct event event;

	if (!listing_choose(&listing, order->columns) ||
	    !printing_begin(printing, path, source_open))
		return EXIT_TROUBLE;
	listing.text = printing->text;
	listing.source = printing->source;
	source_tell_losses(printing->source);
	listing_begin(&listing);
	while (!listing.text->error &&
	       selection_next(&printing->selection, printing->source, &event))
		listing_event(&listing, &event);
	listing_end(&listing);
	return printing_end(printing);
}

static int run(int argc, char **argv)
{
	struct order order = {.printing = {.format = FORMAT_TEXT}};
	const char *path;
	int code;

	while ((code = options_next(&cmd_print, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_print, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	return print_file(&order, path);
}

const struct command cmd_print = {
	.name = "print",
	.arguments = "FILE",
	.summary = "print the events of a trace",
	.options = options,
	.run = run,
};
