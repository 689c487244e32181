/* SPDX-License-Identifier: MIT */
/* txtrace print: print the events of a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "trace/columns.h"

enum { OPTION_TAIL = OPTION_OWN, OPTION_REVERSE };

static const struct option_row option_rows[] = {
	OUTPUT_OPTIONS_ROWS_EVENTS,
	{OPTION_LIMIT, "limit", "N", "only the first N of these events"},
	{OPTION_TAIL, "tail", "N", "only the last N of these events"},
	{OPTION_REVERSE, "reverse", NULL, "the last event first"},
	{OPTION_FORMAT, "format", "text|json|jsonl|csv", "output format; default text"},
	{OPTION_COLUMNS, "columns", "A,B,...", "the columns; see the manual"},
	OPTION_ROW_NS,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	const char *columns;
	bool quotes_ns, is_reverse;
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
	case OPTION_REVERSE:
		return options->is_reverse = true;
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

/* Rows in a temporary file, in the order of the trace. */
struct rows {
	struct text text;
	uint64_t *end; /* offset of the end of each row */
	size_t nr, room;
};

static void add_row(struct rows *rows)
{
	if (rows->nr == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 1024;
		rows->end = must(reallocarray(rows->end, rows->room, sizeof(*rows->end)));
	}
	rows->end[rows->nr++] = text_offset(&rows->text);
}

/* JSON has a separator in front of each row but the first one. */
static bool copy_rows(const struct rows *rows, struct text *to, bool is_json)
{
	size_t room = 0;
	char *row = NULL;
	bool is_fine = true;

	for (size_t i = rows->nr; i-- > 0 && is_fine && !to->error;) {
		uint64_t begin = i > 0 ? rows->end[i - 1] : 0;
		size_t size = (size_t)(rows->end[i] - begin), skipped = is_json && i > 0 ? strlen(ROW_SEPARATOR) : 0;

		if (size > room)
			row = must(realloc(row, room = size));
		is_fine = pread(rows->text.fd, row, size, (off_t)begin) == (ssize_t)size;
		if (!is_fine)
			break;
		if (is_json && i + 1 < rows->nr)
			text_string(to, ROW_SEPARATOR);
		text_put(to, row + skipped, size - skipped);
	}
	free(row);
	return is_fine;
}

/* With --limit, these are the last events. */
static bool print_reverse(const struct options *options, struct listing *listing)
{
	static struct rows rows;
	const struct output_options *output_options = &options->output_options;
	bool is_limited = options->limit > 0 && (options->tail == 0 || options->limit < options->tail);
	uint64_t tail = is_limited ? options->limit : options->tail;
	uint64_t nr_skipped = tail > 0 ? count_skipped(output_options, tail) : 0;
	struct text *text = listing->text;
	FILE *file = tmpfile();
	struct event event;
	bool is_fine;

	if (!file) {
		message_error(errno, "temporary file");
		return false;
	}
	rows.text.fd = fileno(file);
	listing->text = &rows.text;
	while (!rows.text.error && selection_next(&output_options->selection, output_options->source, &event)) {
		if (nr_skipped > 0) {
			nr_skipped--;
			continue;
		}
		listing_event(listing, &event);
		add_row(&rows);
	}
	text_flush(&rows.text);
	listing->text = text;
	is_fine = !rows.text.error && copy_rows(&rows, text, listing->format == FORMAT_JSON);
	if (!is_fine)
		message_error(rows.text.error ? rows.text.error : EIO, "temporary file");
	free(rows.end);
	fclose(file);
	return is_fine;
}

static int print_file(struct options *options, const char *path)
{
	struct output_options *output_options = &options->output_options;
	struct listing listing = {.format = output_options->format, .quotes_ns = options->quotes_ns};
	bool is_fine = true;
	int code;

	if (!listing_choose(&listing, options->columns) ||
	    !output_options_begin(output_options, path, source_open))
		return EXIT_TROUBLE;
	listing.text = output_options->text;
	listing.source = output_options->source;
	listing_choose(&listing, options->columns); /* a merged log has more columns */
	source_report_losses(output_options->source);
	listing_begin(&listing);
	if (options->is_reverse)
		is_fine = print_reverse(options, &listing);
	else
		print_events(options, &listing);
	listing_end(&listing);
	code = output_options_end(output_options);
	return is_fine ? code : EXIT_TROUBLE;
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
