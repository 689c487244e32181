/* SPDX-License-Identifier: MIT */
/* txtrace report: print TraceX's reports on a trace. */
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
	OPTION_PROCESSES,
	OPTION_LATENCY
};

static const struct option_row option_rows[] = {
	{OPTION_PROFILE, "profile", NULL, "Execution Profile: the time of each thread"},
	{OPTION_PERFORMANCE, "performance", NULL,
	 "Performance Statistics: switches, interrupts, ..."},
	{OPTION_SERVICES, "services", NULL, "Popular Services: how often each event occurred"},
	{OPTION_STACKS, "stacks", NULL, "Thread Stack Usage"},
	{OPTION_FILEX, "filex", NULL, "FileX Statistics"},
	{OPTION_NETX, "netx", NULL, "NetX Statistics"},
	{OPTION_INVERSIONS, "inversions", NULL, "priority inversions, one by one"},
	{OPTION_CPUS, "cpus", NULL, "the threads and the load of each CPU"},
	{OPTION_PROCESSES, "processes", NULL, "events and time of each process"},
	{OPTION_LATENCY, "latency", NULL, "how long threads were ready before they ran"},
	OUTPUT_OPTIONS_ROWS_EVENTS,
	OUTPUT_OPTIONS_ROW_TABLE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	unsigned int kinds;
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	if (code >= OPTION_PROFILE && code <= OPTION_LATENCY) {
		options->kinds |= 1U << (code - OPTION_PROFILE);
		return true;
	}
	switch (code) {
	default:
		return output_options_option(&options->output_options, code);
	}
}

static int report_on(struct options *options, const char *path)
{
	static struct report report;
	struct output_options *output_options = &options->output_options;
	struct table table;

	if (!output_options_begin(output_options, path, source_open))
		return EXIT_TROUBLE;
	source_report_unnamed(output_options->source);
	wrapper_stats_report(output_options->source);
	report_gather(&report, output_options->source, &output_options->selection);
	table_open(&table, output_options->text, output_options->format);
	report_print(&report, &table, options->kinds);
	table_close(&table);
	report_free(&report);
	return output_options_end(output_options);
}

static int run(int argc, char **argv)
{
	struct options options = {.output_options = {.format = FORMAT_TEXT}};
	const char *path;

	path = options_read_file(&cmd_report, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	return report_on(&options, path);
}

const struct command cmd_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "report how long each thread ran, and how often each event occurred",
	.options = option_rows,
	.run = run,
};
