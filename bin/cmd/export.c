/* SPDX-License-Identifier: MIT */
/* txtrace export: convert a trace to the format of another program. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "export/export.h"
#include "trace/calls.h"

enum { OPTION_TO = OPTION_OWN };

#define OWN_OPTIONS 8

#define ADDRESS(name) &exporter_##name,
static const struct exporter *const exporters[] = {EXPORTERS(ADDRESS) NULL};

/* The words of --to: "perfetto|chrome|...". */
#define WORD(name) "|" #name
#define FORMATS (&(EXPORTERS(WORD))[1])

static const struct option_row option_rows[] = {
	{OPTION_TO, "to", FORMATS, "the format, see below"},
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	OPTION_ROW_FILTER,
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	OPTION_ROWS_THREADX,
	{OPTION_LIMIT, "limit", "N", "html: maximum number of events; default 2000000"},
	{OPTION_COLUMNS, "columns", "A,B,...",
	 "csv, jsonl: the columns; see txtrace-print(1)"},
	OPTION_ROW_NS,
	OPTION_ROWS_TYPE,
	OPTION_ROW_SPAN,
	{OPTION_SPLIT, "split", NULL, "trx: a file for each 200000 events"},
	{OPTION_PER_CORE, "per-core", NULL, "trx: a file for each CPU"},
	{OPTION_HOST, "host", "NAME", "clickhouse: the machine of the trace"},
	{OPTION_COMPRESS, "compress", NULL, "perfetto: compressed packets"},
	OPTIONS_END,
};

struct options {
	struct selection selection;
	struct spans spans;
	const struct exporter *exporter;
	const char *output;
	bool overwrites;
	const char *columns, *host;
	bool quotes_ns, compresses;
	bool splits, per_core;
	uint64_t limit;
	int own_option[OWN_OPTIONS]; /* the given options; not every exporter takes these */
	int nr_own;
};

/* The formats that this tool lacks, and the libraries that it was built without. */
static const struct {
	const char *name, *library;
} absent[] = {
#if !HAVE_PERFETTO
	{"perfetto", "protobuf-c (Debian: libprotobuf-c-dev, protobuf-c-compiler)"},
#endif
#if !HAVE_CTF
	{"ctf", "Babeltrace 2 (Debian: libbabeltrace2-dev)"},
#endif
#if !HAVE_SQLITE
	{"clickhouse", "SQLite (Debian: libsqlite3-dev)"},
	{"sqlite", "SQLite (Debian: libsqlite3-dev)"},
#endif
	{NULL, NULL}};

static const struct exporter *find_exporter(const char *name)
{
	for (const struct exporter *const *at = exporters; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	for (size_t i = 0; absent[i].name; i++)
		if (strcmp(absent[i].name, name) == 0) {
			message("this txtrace was built without %s, so it has no format %s", absent[i].library, name);
			return NULL;
		}
	message("unknown format %s; --to takes %s", name, FORMATS);
	return NULL;
}

static void explain(void)
{
	puts("\nFormats (default: the first):");
	for (const struct exporter *const *at = exporters; *at; at++)
		printf("  %-10s %s\n", (*at)->name, (*at)->summary);
}

static bool note_own(struct options *options, int code)
{
	for (int i = 0; i < options->nr_own; i++)
		if (options->own_option[i] == code)
			return true;
	options->own_option[options->nr_own++] = code;
	return true;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;
	int taken = selection_option(&options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_TO:
		options->exporter = find_exporter(optarg);
		return options->exporter != NULL;
	case 'o':
		options->output = optarg;
		return true;
	case OPTION_FORCE:
		options->overwrites = true;
		return true;
	case OPTION_LIMIT:
		return note_own(options, code) && options_is_count("limit", "events", optarg, &options->limit);
	case OPTION_SPAN:
		return note_own(options, code) && spans_add(&options->spans, optarg);
	case OPTION_COLUMNS:
		options->columns = optarg;
		return note_own(options, code);
	case OPTION_HOST:
		options->host = optarg;
		return note_own(options, code);
	case OPTION_COMPRESS:
		options->compresses = true;
		return note_own(options, code);
	case OPTION_NS:
		return note_own(options, code) && options_is_string(optarg, &options->quotes_ns);
	case OPTION_SPLIT:
		options->splits = true;
		return note_own(options, code);
	case OPTION_PER_CORE:
		options->per_core = true;
		return note_own(options, code);
	default:
		return false;
	}
}

static bool understands(const struct exporter *exporter, int option)
{
	const char *name = "";

	for (const int *at = exporter->options; at && *at; at++)
		if (*at == option)
			return true;
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->code == option)
			name = row->name;
	message("--to %s has no --%s", exporter->name, name);
	return false;
}

/* Return the name of the output: the name of the trace with another suffix. The caller frees it. */
static char *default_output(const char *path, const char *suffix)
{
	char *output;

	if (strcmp(path, "-") == 0)
		path = "stdin";
	if (asprintf(&output, "%.*s%s", (int)length_without_suffix(path), path, suffix) < 0)
		return NULL;
	return output;
}

static bool check_output(const struct options *options, const char *path, const char *output)
{
	const struct exporter *exporter = options->exporter;
	bool is_stdout = strcmp(output, "-") == 0;
	bool is_several = options->splits || options->per_core ||
			  (exporter->makes_output && !exporter->takes_stdout);

	if (is_stdout && is_several) {
		message(exporter->needs_file ? "--to %s cannot write to standard output: use -o FILE" :
					       "--to %s writes more than one file: use -o FILE",
			exporter->name);
		return false;
	}
	if (is_stdout && exporter->is_binary && isatty(STDOUT_FILENO)) {
		message("%s is binary and standard output is a terminal: use -o FILE", exporter->name);
		return false;
	}
	return is_stdout || !source_would_be_lost(path, output);
}

static void put_events(const struct exporter *exporter, struct export *export)
{
	struct event event;

	while (!export->text.error && selection_next(export->selection, export->source, &event))
		exporter->event(export, &event);
}

static int export_source(const struct options *options, struct export *export)
{
	const struct exporter *exporter = options->exporter;
	bool is_fine;

	if (!exporter->makes_output &&
	    !text_open(&export->text, export->output, export->overwrites))
		return EXIT_TROUBLE;
	source_report_losses(export->source);
	export->source->task = "exporting";
	if (exporter->shows_waits)
		calls_expand(export->source);
	is_fine = exporter->run ? exporter->run(export) : exporter->begin(export);
	if (is_fine && !exporter->run) {
		put_events(exporter, export);
		is_fine = exporter->end(export, !export->text.error);
	}
	if (!exporter->makes_output && !text_close(&export->text, is_fine))
		is_fine = false;
	return is_fine ? EXIT_FINE : EXIT_TROUBLE;
}

static int export_file(const struct options *options, const char *path)
{
	static struct export export;
	char *name = options->output ? strdup(options->output) :
				       default_output(path, options->exporter->suffix);
	int code = EXIT_TROUBLE;

	export.selection = &options->selection;
	export.spans = &options->spans;
	export.output = name;
	export.overwrites = options->overwrites;
	export.columns = options->columns;
	export.host = options->host;
	export.quotes_ns = options->quotes_ns;
	export.compresses = options->compresses;
	export.splits = options->splits;
	export.per_core = options->per_core;
	export.limit = options->limit;
	export.source = source_open(path, options->selection.tick_ns);
	if (!name)
		message("there is not enough memory");
	else if (export.source && selection_begin(&options->selection, &export.source, 1) &&
		 check_output(options, path, name))
		code = export_source(options, &export);
	if (code == EXIT_FINE && !options->output && !options->exporter->prints_output)
		message("wrote %s", name);
	source_close(export.source);
	free(name);
	return code;
}

static int run(int argc, char **argv)
{
	static struct options options = {.limit = EXPORT_LIMIT};
	const char *path;
	int code;

	options.exporter = exporters[0];
	path = options_read_file(&cmd_export, argc, argv, read_option, &options);
	if (!path)
		return EXIT_TROUBLE;
	for (int i = 0; i < options.nr_own; i++)
		if (!understands(options.exporter, options.own_option[i]))
			return EXIT_TROUBLE;
	code = export_file(&options, path);
	selection_free(&options.selection);
	spans_free(&options.spans);
	return code;
}

const struct command cmd_export = {
	.name = "export",
	.arguments = "FILE",
	.summary = "convert a trace for another program",
	.options = option_rows,
	.run = run,
	.explain = explain,
};
