/* SPDX-License-Identifier: MIT */
/* txtrace print: print the events of a file. */
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "trace/columns.h"

static const struct option_row option_rows[] = {
	OUTPUT_OPTIONS_ROWS_EVENTS,
	{OPTION_FORMAT, "format", "text|json|jsonl|csv", "output format; default text"},
	{OPTION_COLUMNS, "columns", "A,B,...", "the columns; see the manual"},
	OPTION_ROW_NS,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	const char *columns;
	bool quotes_ns;
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_FORMAT:
		return format_parse(optarg, &options->output_options.format);
	case OPTION_COLUMNS:
		options->columns = optarg;
		return true;
	case OPTION_NS:
		return options_is_string(optarg, &options->quotes_ns);
	default:
		return output_options_option(&options->output_options, code);
	}
}

static int print_file(struct options *options, const char *path)
{
	struct output_options *output_options = &options->output_options;
	struct listing listing = {.format = output_options->format, .quotes_ns = options->quotes_ns};
	struct event event;

	if (!listing_choose(&listing, options->columns) ||
	    !output_options_begin(output_options, path, source_open))
		return EXIT_TROUBLE;
	listing.text = output_options->text;
	listing.source = output_options->source;
	source_report_losses(output_options->source);
	listing_begin(&listing);
	while (!listing.text->error &&
	       selection_next(&output_options->selection, output_options->source, &event))
		listing_event(&listing, &event);
	listing_end(&listing);
	return output_options_end(output_options);
}

static int run(int argc, char **argv)
{
	struct options options = {.output_options = {.format = FORMAT_TEXT}};
	const char *path;

	path = options_read_file(&cmd_print, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return print_file(&options, path);
}

const struct command cmd_print = {
	.name = "print",
	.arguments = "FILE",
	.summary = "print the events of a trace",
	.options = option_rows,
	.run = run,
};
