/* SPDX-License-Identifier: MIT */
/* txtrace why: explain why a thread waited. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "waits/why.h"

static const struct option_row options[] = {
	OPTION_ROW_TIME,
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROWS_THREADX,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

/*
 * Parse THREAD or THREAD@TIME. A name may contain @, but a time does not. After an error, print a message and return
 * NULL.
 */
static char *read_question(const char *question, struct time_arg *at)
{
	const char *sign = strrchr(question, '@');

	*at = (struct time_arg){.is_set = false};
	if (!sign)
		return must(strdup(question));
	if (!time_arg_parse(sign + 1, at))
		return NULL;
	return must(strndup(question, (size_t)(sign - question)));
}

static int print_result(const struct selection *selection, const char *path, const char *question, bool is_json)
{
	static struct text text;
	struct source *source = NULL;
	struct time_arg at = {.is_set = false};
	char *thread = question ? read_question(question, &at) : NULL;
	int code = EXIT_TROUBLE;
	bool is_reported;

	if (thread || !question)
		source = source_open_mixed(path, selection->tick_ns);
	if (!source) {
		free(thread);
		return EXIT_TROUBLE;
	}
	terminal_page();
	if (text_open(&text, NULL, false)) {
		source_report_losses(source);
		is_reported = why_report(source, thread, &at, &text, is_json);
		if (text_close(&text, is_reported) && is_reported)
			code = EXIT_FINE;
	}
	source_close(source);
	free(thread);
	return code;
}

static int run(int argc, char **argv)
{
	struct selection selection = {.tick_ns = 0};
	bool is_json = false;
	int code;

	while ((code = options_next(&cmd_why, argc, argv)) != -1) {
		int taken = selection_option(&selection, code, optarg);

		if (taken < 0 || (taken == 0 && !(code == OPTION_FORMAT ? options_is_json(optarg, &is_json) :
									  terminal_option(code, optarg))))
			return EXIT_TROUBLE;
	}
	if (optind + 1 != argc && optind + 2 != argc) {
		message("why takes a file and at most one thread; see txtrace why --help");
		return EXIT_TROUBLE;
	}
	return print_result(&selection, argv[optind], optind + 2 == argc ? argv[optind + 1] : NULL, is_json);
}

static void explain(void)
{
	puts("\nTHREAD is a name, a handle in hex digits, a tid, or main for the main thread.\n"
	     "Without TIME: the longest wait for the object that cost the thread most time.\n"
	     "Without THREAD: a deadlock, or the thread that waited most.");
}

const struct command cmd_why = {
	.name = "why",
	.arguments = "FILE [THREAD[@TIME]]",
	.summary = "explain why a thread waited, and for which thread",
	.options = options,
	.run = run,
	.explain = explain,
};
