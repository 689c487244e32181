/* SPDX-License-Identifier: MIT */
/* export --to trx: write a trace buffer for TraceX. export --to trxc: write the names of its user events. */
#include <stdlib.h>

#include "base/message.h"
#include "cli/options.h"
#include "export/export.h"
#include "trace/origins.h"
#include "trx/trx.h"

#define LOG_TICK_NS 1 /* the tick for a log; long pauses make the tick longer */

static bool begin(struct export *export)
{
	struct trx *trx;

	if (export->per_core && source_nr_hosts(export->source) > 1) {
		message("--per-core: %s has several hosts, and their CPUs have the same numbers", export->source->path);
		return false;
	}
	trx = malloc(sizeof(*trx));
	if (!trx) {
		message("there is not enough memory");
		return false;
	}
	if (!trx_begin(trx, export->output)) {
		free(trx);
		return false;
	}
	trx_add_source(trx, export->source, export->source->path);
	export->state = trx;
	return true;
}

static void put_event(struct export *export, const struct event *event)
{
	trx_put(export->state, 0, event, event->time_ns);
}

static bool end(struct export *export, bool is_complete)
{
	const struct txtrace_file_info *file = &export->source->file;
	const struct trx_options order = {
		.output = export->output,
		.overwrites = export->overwrites,
		.splits = export->splits,
		.per_core = export->per_core,
		.tick_ns = file->foreign ? file->tick_ns : LOG_TICK_NS,
		.epoch_ns = export->source->base_ns,
	};
	bool is_fine = is_complete && trx_write(export->state, &order);

	trx_free(export->state);
	free(export->state);
	return is_fine;
}

static const int options[] = {OPTION_SPLIT, OPTION_PER_CORE, 0};

const struct exporter exporter_trx = {
	.name = "trx",
	.suffix = "-tracex.trx",
	.summary = "a trace buffer for TraceX",
	.is_binary = true,
	.makes_output = true,
	.takes_stdout = true,
	.prints_output = true,
	.options = options,
	.shows_waits = true,
	.begin = begin,
	.event = put_event,
	.end = end,
};

/* The list of types belongs to the file, so it does not depend on the selected events. */
static bool begin_trxc(struct export *export)
{
	size_t size = 0, length;
	char *text;

	txtrace_get_trxc(export->source->trace, NULL, 0, &size);
	text = malloc(size);
	if (text && txtrace_get_trxc(export->source->trace, text, size, &length) == 0) {
		text_put(&export->text, text, length);
		free(text);
		return true;
	}
	free(text);
	message("%s: cannot read the names of the events", export->source->path);
	return false;
}

static void pass_event(struct export *export, const struct event *event)
{
	(void)export;
	(void)event;
}

static bool end_trxc(struct export *export, bool is_complete)
{
	(void)export;
	return is_complete;
}

const struct exporter exporter_trxc = {
	.name = "trxc",
	.suffix = ".trxc",
	.summary = "the names of user events, for TraceX's folder CustomEvents",
	.begin = begin_trxc,
	.event = pass_event,
	.end = end_trxc,
};
