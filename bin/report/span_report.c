/* SPDX-License-Identifier: MIT */
#include "report/span_report.h"

#include <stdlib.h>

#include "base/durations.h"
#include "base/memory.h"
#include "base/message.h"

#define BUCKETS 64

struct statistics {
	uint64_t nr_without_end;
	uint64_t bucket[BUCKETS]; /* bucket i: at least 2^(i - 1) ns, and less than 2^i ns */
	struct durations durations;
};

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bucket = ns == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(ns);

	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void take_span(void *arg, const struct span_time *time)
{
	struct statistics *statistics = (struct statistics *)arg + time->span;
	int64_t ns = time->end_ns - time->begin_ns;

	if (time->ending != SPAN_ENDED) {
		statistics->nr_without_end++;
		return;
	}
	durations_add(&statistics->durations, ns);
	statistics->bucket[bucket_of((uint64_t)ns)]++;
}

static void print_statistics(const struct spans *spans, struct statistics *all, struct table *table)
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
		struct durations *durations = &all[i].durations;

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
		table_number(table, all[i].nr_without_end);
		table_number(table, spans->span[i].nr_without_begin);
	}
	table_end(table);
}

static void print_histogram(const struct spans *spans, const struct statistics *all, struct table *table)
{
	static const struct column columns[] = {{"Span", "span", false}, {"At Least", "at_least_s", true},
						{"Less Than", "less_than_s", true}, {"Times", "times", true},
						{0}};

	table_begin(table, "Span Histogram", "span_histogram", columns, 1);
	for (unsigned int i = 0; i < spans->nr; i++)
		for (unsigned int k = 0; k < BUCKETS; k++) {
			if (all[i].bucket[k] == 0)
				continue;
			table_string(table, spans->span[i].name);
			table_duration(table, k == 0 ? 0 : INT64_C(1) << (k - 1));
			if (k + 1 < BUCKETS)
				table_duration(table, INT64_C(1) << k);
			else
				table_unknown(table);
			table_number(table, all[i].bucket[k]);
		}
	table_end(table);
}

void span_report(struct spans *spans, struct source *source, const struct selection *selection, struct table *table)
{
	struct statistics *all = must(calloc(spans->nr + 1, sizeof(*all)));

	spans->take = take_span;
	spans->arg = all;
	spans_read(spans, source, selection);
	spans_report_keys(spans, source);
	print_statistics(spans, all, table);
	print_histogram(spans, all, table);
	for (unsigned int i = 0; i < spans->nr; i++)
		durations_free(&all[i].durations);
	free(all);
}
