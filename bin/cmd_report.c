/* SPDX-License-Identifier: MIT */
/* txtrace report: TraceX's reports on a trace. */
#include "columns.h"
#include "commands.h"
#include "coverage.h"
#include "filter.h"
#include "report.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

enum {
	OPTION_PROFILE = OPTION_OWN,
	OPTION_PERFORMANCE,
	OPTION_SERVICES,
	OPTION_STACKS,
	OPTION_FILEX,
	OPTION_NETX,
	OPTION_INVERSIONS,
	OPTION_CPUS,
	OPTION_PROCESSES
};

static const struct option_row options[] = {
	{OPTION_PROFILE, "profile", NULL, "Execution Profile: who had how much time"},
	{OPTION_PERFORMANCE, "performance", NULL,
	 "Performance Statistics: switches, interrupts, ..."},
	{OPTION_SERVICES, "services", NULL, "Popular Services: how often which event"},
	{OPTION_STACKS, "stacks", NULL, "Thread Stack Usage"},
	{OPTION_FILEX, "filex", NULL, "FileX Statistics"},
	{OPTION_NETX, "netx", NULL, "NetX Statistics"},
	{OPTION_INVERSIONS, "inversions", NULL, "priority inversions, one by one"},
	{OPTION_CPUS, "cpus", NULL, "what ran on each CPU"},
	{OPTION_PROCESSES, "processes", NULL, "events and time of each process"},
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
	unsigned int kinds;
	const char *output;
	bool overwrites;
};

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	int taken = selection_option(&order->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	if (code >= OPTION_PROFILE && code <= OPTION_PROCESSES) {
		order->kinds |= 1U << (code - OPTION_PROFILE);
		return true;
	}
	switch (code) {
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
	static struct report report;
	struct table table;
	struct source *source = source_open(path, order->selection.tick_ns);
	int code = EXIT_TROUBLE;

	if (!source || (order->output && source_would_be_lost(path, order->output))) {
		source_close(source);
		return EXIT_TROUBLE;
	}
	if (!order->output)
		terminal_page();
	if (text_open(&text, order->output, order->overwrites)) {
		coverage_tell(source);
		report_gather(&report, source, &order->selection);
		table_open(&table, &text, order->format);
		report_print(&report, &table, order->kinds);
		table_close(&table);
		report_free(&report);
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

	while ((code = options_next(&cmd_report, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_report, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	code = report_on(&order, path);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "tell who ran, how much, and what happened how often",
	.options = options,
	.run = run,
};
