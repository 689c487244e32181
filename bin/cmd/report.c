/* SPDX-License-Identifier: MIT */
/* txtrace report: print TraceX's reports on a trace. */
#include "base/message.h"
#include "cli/command.h"
#include "cmd/output_options.h"
#include "live/wrapper_stats.h"
#include "report/report.h"
#include "report/span_report.h"
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
	OPTION_LATENCY,
	OPTION_SPANS
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
	{OPTION_SPANS, "spans", NULL, "the spans that the program describes, and those of --span"},
	OPTION_ROW_SPAN,
	OUTPUT_OPTIONS_ROWS_EVENTS,
	OUTPUT_OPTIONS_ROW_TABLE,
	OUTPUT_OPTIONS_ROWS_OUTPUT,
	OPTIONS_END,
};

struct options {
	struct output_options output_options;
	unsigned int kinds;
	struct spans spans;
	bool wants_spans, wants_described;
};

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	if (code >= OPTION_PROFILE && code <= OPTION_LATENCY) {
		options->kinds |= 1U << (code - OPTION_PROFILE);
		return true;
	}
	if (code == OPTION_SPANS || code == OPTION_SPAN)
		options->wants_spans = true;
	if (code == OPTION_SPANS)
		return options->wants_described = true;
	if (code == OPTION_SPAN)
		return spans_add(&options->spans, optarg);
	return output_options_option(&options->output_options, code);
}

/* Print the reports that were asked for.  Without an option, these are all but the one on spans. */
static void print_reports(struct options *options, struct table *table)
{
	struct output_options *output_options = &options->output_options;
	static struct report report;

	if (options->wants_described)
		spans_add_described(&options->spans, output_options->source);
	if (options->wants_spans)
		span_report(&options->spans, output_options->source, &output_options->selection, table);
	if (options->wants_spans && options->kinds == 0)
		return;
	source_rewind(output_options->source);
	report_gather(&report, output_options->source, &output_options->selection);
	report_print(&report, table, options->kinds);
	report_free(&report);
}

static int report_on(struct options *options, const char *path)
{
	struct output_options *output_options = &options->output_options;
	struct table table;

	if (!output_options_begin(output_options, path, source_open))
		return EXIT_TROUBLE;
	source_report_unnamed(output_options->source);
	wrapper_stats_report(output_options->source);
	table_open(&table, output_options->text, output_options->format);
	print_reports(options, &table);
	table_close(&table);
	spans_free(&options->spans);
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
