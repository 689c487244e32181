/* SPDX-License-Identifier: MIT */
/* txtrace print: print the events of a file. */
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "trace/columns.h"

enum { OPTION_TAIL = OPTION_OWN };

static const struct option_row option_rows[] = {
	OUTPUT_OPTIONS_ROWS_EVENTS,
	{OPTION_LIMIT, "limit", "N", "only the first N of these events"},
	{OPTION_TAIL, "tail", "N", "only the last N of these events"},
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
	uint64_t limit, tail; /* numbers of events; 0: all */
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
	case OPTION_LIMIT:
		return options_is_count("limit", "events", optarg, &options->limit);
	case OPTION_TAIL:
		return options_is_count("tail", "events", optarg, &options->tail);
	case OPTION_NS:
		return options_is_string(optarg, &options->quotes_ns);
	default:
		return output_options_option(&options->output_options, code);
	}
}

/* Return how many of the selected events come before the last ones, and rewind the source. */
static uint64_t count_skipped(const struct output_options *output_options, uint64_t tail)
{
	struct source *source = output_options->source;
	uint64_t nr_events = 0;
	struct event event;

	source->task = "reading";
	while (selection_next(&output_options->selection, source, &event))
		nr_events++;
	source_rewind(source);
	source->task = NULL;
	return nr_events > tail ? nr_events - tail : 0;
}

/* With both options, print the first events of the last ones. */
static void print_events(const struct options *options, struct listing *listing)
{
	const struct output_options *output_options = &options->output_options;
	uint64_t nr_skipped = options->tail > 0 ? count_skipped(output_options, options->tail) : 0;
	uint64_t left = options->limit > 0 ? options->limit : UINT64_MAX;
	struct event event;

	while (left > 0 && !listing->text->error &&
	       selection_next(&output_options->selection, output_options->source, &event)) {
		if (nr_skipped > 0) {
			nr_skipped--;
			continue;
		}
		listing_event(listing, &event);
		left--;
	}
}

static int print_file(struct options *options, const char *path)
{
	struct output_options *output_options = &options->output_options;
	struct listing listing = {.format = output_options->format, .quotes_ns = options->quotes_ns};

	if (!listing_choose(&listing, options->columns) ||
	    !output_options_begin(output_options, path, source_open))
		return EXIT_TROUBLE;
	listing.text = output_options->text;
	listing.source = output_options->source;
	source_report_losses(output_options->source);
	listing_begin(&listing);
	print_events(options, &listing);
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
