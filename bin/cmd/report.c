/* SPDX-License-Identifier: MIT */
/* txtrace report: TraceX's reports on a trace. */
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "live/wrapper_stats.h"
#include "report/report.h"
#include "trace/columns.h"

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
	PRINTING_ROWS_EVENTS,
	PRINTING_ROW_TABLE,
	PRINTING_ROWS_OUTPUT,
	OPTIONS_END,
};

struct order {
	struct printing printing;
	unsigned int kinds;
};

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	if (code >= OPTION_PROFILE && code <= OPTION_PROCESSES) {
		order->kinds |= 1U << (code - OPTION_PROFILE);
		return true;
	}
	switch (code) {
	default:
		return printing_option(&order->printing, code);
	}
}

static int report_on(struct order *order, const char *path)
{
	static struct report report;
	struct printing *printing = &order->printing;
	struct table table;

	if (!printing_begin(printing, path, source_open))
		return EXIT_TROUBLE;
	coverage_tell(printing->source);
	report_gather(&report, printing->source, &printing->selection);
	table_open(&table, printing->text, printing->format);
	report_print(&report, &table, order->kinds);
	table_close(&table);
	report_free(&report);
	return printing_end(printing);
}

static int run(int argc, char **argv)
{
	struct order order = {.printing = {.format = FORMAT_TEXT}};
	const char *path;
	int code;

	while ((code = options_next(&cmd_report, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_report, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	return report_on(&order, path);
}

const struct command cmd_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "tell who ran, how much, and what happened how often",
	.options = options,
	.run = run,
};
