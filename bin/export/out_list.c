/* SPDX-License-Identifier: MIT */
/* export --to csv and --to jsonl: write the same lists as txtrace print. */
#include <stdlib.h>

#include "base/message.h"
#include "cli/options.h"
#include "export/export.h"
#include "trace/columns.h"

static bool begin(struct export *export, enum format format)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing) {
		message("there is not enough memory");
		return false;
	}
	listing->text = &export->text;
	listing->source = export->source;
	listing->format = format;
	listing->quotes_ns = export->quotes_ns;
	if (!listing_choose(listing, export->columns ? export->columns : "all")) {
		free(listing);
		return false;
	}
	export->state = listing;
	listing_begin(listing);
	return true;
}

static bool begin_csv(struct export *export)
{
	return begin(export, FORMAT_CSV);
}

static bool begin_jsonl(struct export *export)
{
	return begin(export, FORMAT_JSONL);
}

static void put_event(struct export *export, const struct event *event)
{
	listing_event(export->state, event);
}

static bool end(struct export *export, bool is_complete)
{
	if (is_complete)
		listing_end(export->state);
	free(export->state);
	return true;
}

static const int options[] = {OPTION_COLUMNS, 0};
static const int options_jsonl[] = {OPTION_COLUMNS, OPTION_NS, 0};

const struct exporter exporter_csv = {
	.name = "csv",
	.suffix = ".csv",
	.summary = "a table as in RFC 4180, one line for each event",
	.options = options,
	.begin = begin_csv,
	.event = put_event,
	.end = end,
};

const struct exporter exporter_jsonl = {
	.name = "jsonl",
	.suffix = ".jsonl",
	.summary = "JSON lines: one object for each event",
	.options = options_jsonl,
	.begin = begin_jsonl,
	.event = put_event,
	.end = end,
};
