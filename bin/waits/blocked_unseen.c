/* SPDX-License-Identifier: MIT */
#include "waits/blocked_unseen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/durations.h"
#include "base/map.h"
#include "base/memory.h"
#include "waits/state_periods.h"

struct row {
	unsigned int context; /* the handle, or 0 */
	pid_t tid;
	char name[16];
	struct durations durations;
};

struct unseen {
	struct map row_of; /* key: number of the thread; value: 1 + index */
	struct row *row;
	size_t nr_rows;
};

static void take(void *arg, const struct state_period *period)
{
	struct unseen *unseen = arg;
	uint64_t *known;
	struct row *row;

	if (period->state != THREAD_BLOCKED || period->object)
		return;
	known = map_get(&unseen->row_of, period->thread->index);
	if (!*known) {
		unseen->row = must(reallocarray(unseen->row, unseen->nr_rows + 1, sizeof(*unseen->row)));
		unseen->row[unseen->nr_rows++] = (struct row){.tid = period->thread->tid};
		*known = unseen->nr_rows;
	}
	row = &unseen->row[*known - 1];
	row->context = period->context;
	memcpy(row->name, period->thread->name, sizeof(row->name));
	durations_add(&row->durations, period->until_ns - period->from_ns);
}

static int compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->durations.sum != right->durations.sum)
		return left->durations.sum > right->durations.sum ? -1 : 1;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

static void put(const struct source *source, struct table *table, struct row *row)
{
	char text[32];

	snprintf(text, sizeof(text), "tid %lld", (long long)row->tid);
	table_string(table, row->context ? source_context_name(source, row->context) : row->name[0] ? row->name : text);
	table_number(table, (uint64_t)row->tid);
	table_number(table, row->durations.n);
	table_duration(table, row->durations.sum);
	table_duration(table, (int64_t)durations_percentile(&row->durations, 50));
	table_duration(table, (int64_t)durations_percentile(&row->durations, 99));
	table_duration(table, (int64_t)row->durations.largest);
}

void blocked_unseen_print(struct source *source, const struct selection *selection, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false}, {"TID", "tid", true},
						{"Times", "times", true},    {"Total", "total_s", true},
						{"p50", "p50_s", true},	     {"p99", "p99_s", true},
						{"max", "max_s", true},	     {0}};
	struct unseen unseen = {.nr_rows = 0};

	state_periods_read(source, selection, take, &unseen);
	if (unseen.nr_rows > 0) {
		qsort(unseen.row, unseen.nr_rows, sizeof(*unseen.row), compare);
		table_begin(table, "Blocked without a Recorded Call", "blocked_unseen", columns, 2);
		for (size_t i = 0; i < unseen.nr_rows; i++)
			put(source, table, &unseen.row[i]);
		table_end(table);
		table_note(table, "  no recorded call shows what these threads waited for, or when they were woken");
	}
	for (size_t i = 0; i < unseen.nr_rows; i++)
		durations_free(&unseen.row[i].durations);
	free(unseen.row);
	map_free(&unseen.row_of);
}
