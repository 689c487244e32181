/* SPDX-License-Identifier: MIT */
/* txtrace export: a trace in the format of another program. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "export/export.h"

enum { OPTION_TO = OPTION_OWN };

#define OWN_OPTIONS 4

#define ADDRESS(name) &exporter_##name,
static const struct exporter *const exporters[] = {EXPORTERS(ADDRESS) NULL};

/* "perfetto|chrome|..." */
#define WORD(name) "|" #name
#define FORMATS (EXPORTERS(WORD) + 1)

static const struct option_row options[] = {
	{OPTION_TO, "to", FORMATS, "the format, see below"},
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	OPTION_ROW_FILTER,
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	OPTION_ROW_TICK,
	{OPTION_LIMIT, "limit", "N", "html: events at most; 2000000 if not given"},
	{OPTION_COLUMNS, "columns", "A,B,...",
	 "what csv and jsonl have of each event; see txtrace-print(1)"},
	{OPTION_SPLIT, "split", NULL, "trx: a file for each 200000 events"},
	{OPTION_PER_CORE, "per-core", NULL, "trx: a file for each CPU"},
	OPTIONS_END,
};

struct order {
	struct selection selection;
	const struct exporter *exporter;
	const char *output;
	bool overwrites;
	const char *columns;
	bool splits, per_core;
	uint64_t limit;
	int own_option[OWN_OPTIONS]; /* that not every exporter has; 0: none was given */
	int nr_own;
};

static const struct exporter *find_exporter(const char *name)
{
	for (const struct exporter *const *at = exporters; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	say("there is no format %s; --to is %s", name, FORMATS);
	return NULL;
}

static void explain(void)
{
	puts("\nFormats; the first is made if none is given:");
	for (const struct exporter *const *at = exporters; *at; at++)
		printf("  %-10s %s\n", (*at)->name, (*at)->summary);
}

static bool note_own(struct order *order, int code)
{
	for (int i = 0; i < order->nr_own; i++)
		if (order->own_option[i] == code)
			return true;
	order->own_option[order->nr_own++] = code;
	return true;
}

/* False: it is no number, and that was said. */
static bool read_limit(struct order *order, const char *argument)
{
	char *end;

	errno = 0;
	order->limit = strtoull(argument, &end, 10);
	if (errno == 0 && *end == '\0' && isdigit((unsigned char)*argument) && order->limit > 0)
		return true;
	say("--limit is a number of events, from 1 on, not %s", argument);
	return false;
}

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	int taken = selection_option(&order->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_TO:
		order->exporter = find_exporter(optarg);
		return order->exporter != NULL;
	case 'o':
		order->output = optarg;
		return true;
	case OPTION_FORCE:
		order->overwrites = true;
		return true;
	case OPTION_LIMIT:
		return note_own(order, code) && read_limit(order, optarg);
	case OPTION_COLUMNS:
		order->columns = optarg;
		return note_own(order, code);
	case OPTION_SPLIT:
		order->splits = true;
		return note_own(order, code);
	case OPTION_PER_CORE:
		order->per_core = true;
		return note_own(order, code);
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
	for (const struct option_row *row = options; row->name; row++)
		if (row->code == option)
			name = row->name;
	say("--to %s has no --%s", exporter->name, name);
	return false;
}

/* The name of the trace with another suffix; to be freed. */
static char *default_output(const char *path, const char *suffix)
{
	char *output;

	if (asprintf(&output, "%.*s%s", (int)length_without_suffix(path), path, suffix) < 0)
		return NULL;
	return output;
}

static bool check_output(const struct order *order, const char *path, const char *output)
{
	const struct exporter *exporter = order->exporter;
	bool is_stdout = strcmp(output, "-") == 0;
	bool is_several = order->splits || order->per_core ||
			  (exporter->makes_output && !exporter->takes_stdout);

	if (is_stdout && is_several) {
		say("--to %s makes more than one file, so it needs a name for them",
		    exporter->name);
		return false;
	}
	if (is_stdout && exporter->is_binary && isatty(STDOUT_FILENO)) {
		say("%s is not for a terminal; -o FILE writes it into a file", exporter->name);
		return false;
	}
	return is_stdout || !source_would_be_lost(path, output);
}

static void put_events(const struct exporter *exporter, struct export *export)
{
	struct event event;
	uint64_t nr_events = 0;

	while (!export->text.error && selection_next(export->selection, export->source, &event)) {
		exporter->event(export, &event);
		if (++nr_events % 65536 == 0)
			progress("exporting", export->source->nr_read,
				 export->source->file.nr_entries);
	}
	progress_end();
}

static int export_source(const struct order *order, struct export *export)
{
	const struct exporter *exporter = order->exporter;
	bool is_fine;

	if (!exporter->makes_output &&
	    !text_open(&export->text, export->output, export->overwrites))
		return EXIT_TROUBLE;
	source_tell_losses(export->source);
	if (exporter->shows_waits)
		source_expand(export->source);
	is_fine = exporter->run ? exporter->run(export) : exporter->begin(export);
	if (is_fine && !exporter->run) {
		put_events(exporter, export);
		is_fine = exporter->end(export, !export->text.error);
	}
	if (!exporter->makes_output && !text_close(&export->text, is_fine))
		is_fine = false;
	return is_fine ? EXIT_FINE : EXIT_TROUBLE;
}

static int export_file(const struct order *order, const char *path)
{
	static struct export export;
	char *name = order->output ? strdup(order->output) :
				     default_output(path, order->exporter->suffix);
	int code = EXIT_TROUBLE;

	export.selection = &order->selection;
	export.output = name;
	export.overwrites = order->overwrites;
	export.columns = order->columns;
	export.splits = order->splits;
	export.per_core = order->per_core;
	export.limit = order->limit;
	export.source = source_open(path, order->selection.tick_ns);
	if (!name)
		say("there is not enough memory");
	else if (export.source && check_output(order, path, name))
		code = export_source(order, &export);
	if (code == EXIT_FINE && !order->output && !order->exporter->tells_output)
		say("wrote %s", name);
	source_close(export.source);
	free(name);
	return code;
}

static int run(int argc, char **argv)
{
	struct order order = {.exporter = exporters[0], .limit = EXPORT_LIMIT};
	const char *path;
	int code;

	while ((code = options_next(&cmd_export, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	path = options_file(&cmd_export, argc, argv);
	if (!path)
		return EXIT_TROUBLE;
	for (int i = 0; i < order.nr_own; i++)
		if (!understands(order.exporter, order.own_option[i]))
			return EXIT_TROUBLE;
	code = export_file(&order, path);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_export = {
	.name = "export",
	.arguments = "FILE",
	.summary = "write a trace for another program",
	.options = options,
	.run = run,
	.explain = explain,
};
