/* SPDX-License-Identifier: MIT */
#include "report/spans.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"

/* Parse "u32" or "u32[OFFSET]". */
static bool parse_key(struct span *span, const char *text)
{
	unsigned int bits, offset = 0;
	int used = 0;

	if (sscanf(text, "u%2u%n", &bits, &used) < 1 || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return false;
	text += used;
	used = 0;
	if (*text && (sscanf(text, "[%6u]%n", &offset, &used) < 1 || used == 0 || text[used]))
		return false;
	span->key_bytes = bits / 8;
	span->key_offset = offset;
	return true;
}

bool spans_add(struct spans *spans, const char *text)
{
	const char *equal = strchr(text, '='), *dots = equal ? strstr(equal, "..") : NULL;
	const char *colon = dots ? strrchr(dots, ':') : NULL;
	struct span span = {0};

	if (spans->nr == SPANS_MAX) {
		message("there may be at most %d spans", SPANS_MAX);
		return false;
	}
	/* Names of events may have a colon, but none that ends like a number in the data. */
	if (colon && !parse_key(&span, colon + 1))
		colon = NULL;
	if (!dots || equal == text || dots == equal + 1 || (colon ? colon == dots + 2 : dots[2] == '\0')) {
		message("--span takes NAME=BEGIN..END, and then perhaps :u32[OFFSET], not %s", text);
		return false;
	}
	span.name = must(strndup(text, (size_t)(equal - text)));
	span.begins = must(strndup(equal + 1, (size_t)(dots - equal - 1)));
	span.ends = must(colon ? strndup(dots + 2, (size_t)(colon - dots - 2)) : strdup(dots + 2));
	spans->span[spans->nr++] = span;
	return true;
}

/* Return the key that pairs events.  Return false if the data are too short. */
static bool find_key(const struct span *span, const struct event *event, uint64_t *key)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	const unsigned char *from = event->data + span->key_offset;

	*key = event->context;
	if (span->key_bytes == 0)
		return event->context != 0;
	if (event->size < (size_t)span->key_offset + span->key_bytes)
		return false;
	switch (span->key_bytes) {
	case 1:
		memcpy(&u8, from, sizeof(u8));
		*key = u8;
		return true;
	case 2:
		memcpy(&u16, from, sizeof(u16));
		*key = u16;
		return true;
	case 4:
		memcpy(&u32, from, sizeof(u32));
		*key = u32;
		return true;
	default:
		memcpy(key, from, sizeof(*key));
		return true;
	}
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bucket = ns == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(ns);

	return bucket < SPAN_BUCKETS ? bucket : SPAN_BUCKETS - 1;
}

static void end_span(struct span *span, uint64_t key, int64_t since_first_ns)
{
	uint64_t begun = map_find(&span->begun, key);
	int64_t ns;

	if (begun == 0) {
		span->nr_without_begin++;
		return;
	}
	ns = since_first_ns - (int64_t)(begun - 1);
	ns = ns > 0 ? ns : 0; /* the times of a damaged file may fall */
	*map_get(&span->begun, key) = 0;
	span->nr_open--;
	durations_add(&span->durations, ns);
	span->bucket[bucket_of((uint64_t)ns)]++;
}

static void begin_span(struct span *span, uint64_t key, int64_t since_first_ns)
{
	uint64_t *begun = map_get(&span->begun, key);

	if (*begun != 0)
		span->nr_unfinished++;
	else
		span->nr_open++;
	*begun = 1 + (uint64_t)(since_first_ns > 0 ? since_first_ns : 0);
}

/* Events are missing: it is not known whether the open spans have ended. */
static void forget_open(struct span *span)
{
	span->nr_unfinished += span->nr_open;
	span->nr_open = 0;
	map_free(&span->begun);
	span->begun = (struct map){0};
}

static void take(struct span *span, const struct source *source, const struct event *event)
{
	uint64_t key;

	if (!find_key(span, event, &key))
		return;
	/* An event may end a span and begin the next one. */
	if (fnmatch(span->ends, event->name, 0) == 0 &&
	    (map_find(&span->begun, key) || strcmp(span->begins, span->ends) != 0))
		end_span(span, key, event->time_ns - source->first_ns);
	if (fnmatch(span->begins, event->name, 0) == 0)
		begin_span(span, key, event->time_ns - source->first_ns);
}

static void print_statistics(struct spans *spans, struct table *table)
{
	static const char *const minor[] = {"without_begin", "without_end", "mean_s", NULL};
	static const struct column columns[] = {{"Span", "span", false},      {"Times", "times", true},
						{"Total", "total_s", true},   {"Mean", "mean_s", true},
						{"p50", "p50_s", true},	      {"p90", "p90_s", true},
						{"p99", "p99_s", true},	      {"max", "max_s", true},
						{"No End", "without_end", true}, {"No Begin", "without_begin", true},
						{0}};

	table->minor = minor;
	table_begin(table, "Spans", "spans", columns, 1);
	for (unsigned int i = 0; i < spans->nr; i++) {
		struct durations *durations = &spans->span[i].durations;

		table_string(table, spans->span[i].name);
		table_number(table, durations->n);
		table_duration(table, durations->sum);
		if (durations->n > 0) {
			table_duration(table, durations->sum / (int64_t)durations->n);
			table_duration(table, (int64_t)durations_percentile(durations, 50));
			table_duration(table, (int64_t)durations_percentile(durations, 90));
			table_duration(table, (int64_t)durations_percentile(durations, 99));
			table_duration(table, (int64_t)durations->largest);
		} else {
			for (int k = 0; k < 5; k++)
				table_unknown(table);
		}
		table_number(table, spans->span[i].nr_unfinished + spans->span[i].nr_open);
		table_number(table, spans->span[i].nr_without_begin);
	}
	table_end(table);
}

static void print_histogram(const struct spans *spans, struct table *table)
{
	static const struct column columns[] = {{"Span", "span", false}, {"At Least", "at_least_s", true},
						{"Less Than", "less_than_s", true}, {"Times", "times", true},
						{0}};

	table_begin(table, "Span Histogram", "span_histogram", columns, 1);
	for (unsigned int i = 0; i < spans->nr; i++)
		for (unsigned int k = 0; k < SPAN_BUCKETS; k++) {
			if (spans->span[i].bucket[k] == 0)
				continue;
			table_string(table, spans->span[i].name);
			table_duration(table, k == 0 ? 0 : INT64_C(1) << (k - 1));
			if (k + 1 < SPAN_BUCKETS)
				table_duration(table, INT64_C(1) << k);
			else
				table_unknown(table);
			table_number(table, spans->span[i].bucket[k]);
		}
	table_end(table);
}

static bool is_selected(const struct selection *selection, struct source *source, const struct event *event)
{
	return (!selection->from.is_set || event->time_ns >= time_arg_ns(&selection->from, source)) &&
	       (!selection->until.is_set || event->time_ns < time_arg_ns(&selection->until, source)) &&
	       filter_takes(selection->filter, source, event);
}

void spans_report(struct spans *spans, struct source *source, const struct selection *selection, struct table *table)
{
	struct event event;

	source->task = "reading";
	while (source_next(source, &event)) {
		/* The selection may leave out the mark of missing events. */
		for (unsigned int i = 0; i < spans->nr && event.type == POSIX_TRACE_OVERFLOW; i++)
			if (!source->file.foreign)
				forget_open(&spans->span[i]);
		if (!is_selected(selection, source, &event))
			continue;
		for (unsigned int i = 0; i < spans->nr; i++)
			take(&spans->span[i], source, &event);
	}
	print_statistics(spans, table);
	print_histogram(spans, table);
}

void spans_free(struct spans *spans)
{
	for (unsigned int i = 0; i < spans->nr; i++) {
		struct span *span = &spans->span[i];

		free(span->name);
		free(span->begins);
		free(span->ends);
		map_free(&span->begun);
		durations_free(&span->durations);
	}
}
