/* SPDX-License-Identifier: MIT */
/* txtrace tracex: the reports of TraceX's dialogs in one page, for copying into a ticket. */
#include <stdio.h>

#include "base/message.h"
#include "cli/command.h"
#include "report/tracex.h"
#include "trace/selection.h"

enum { OPTION_HTML = OPTION_OWN };

static const struct option_row option_rows[] = {
	{OPTION_HTML, "html", NULL, "print a page in HTML"},
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	OPTION_ROWS_THREADX,
	OPTIONS_END,
};

struct options {
	struct selection selection;
	const char *output;
	bool is_html, overwrites;
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_HTML:
		return options->is_html = true;
	case OPTION_FORCE:
		return options->overwrites = true;
	case 'o':
		options->output = optarg;
		return true;
	default:
		return selection_option(&options->selection, code, optarg) > 0;
	}
}

static int print_page(struct options *options, struct source *source)
{
	static struct report report;
	static struct text text;

	if (!source->file.foreign) {
		message("%s is a log; txtrace report has its numbers, and export --to trx makes a trace buffer of it",
			source->path);
		return EXIT_TROUBLE;
	}
	if (source_would_be_lost(source->path, options->output) ||
	    !text_open(&text, options->output, options->overwrites))
		return EXIT_TROUBLE;
	source_report_unnamed(source);
	report_gather(&report, source, &options->selection);
	tracex_print(&report, &text, options->is_html);
	report_free(&report);
	return text_close(&text, true) ? EXIT_FINE : EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
	struct options options = {.output = NULL};
	struct source *source;
	const char *path;
	int code;

	path = options_read_file(&cmd_tracex, argc, argv, read_option, &options);
	if (!path || !(source = source_open(path, options.selection.tick_ns)))
		return EXIT_TROUBLE;
	code = print_page(&options, source);
	source_close(source);
	selection_free(&options.selection);
	return code;
}

const struct command cmd_tracex = {
	.name = "tracex",
	.arguments = "FILE",
	.summary = "print the reports of TraceX's dialogs in one page",
	.options = option_rows,
	.run = run,
};
