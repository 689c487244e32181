/* SPDX-License-Identifier: MIT */
#include "waits/unseen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SMALL_PART 50

static struct unseen_row *row_of(struct unseen *unseen, const struct sched_thread *thread)
{
	uint64_t *known = map_get(&unseen->row_of, thread->index);

	if (!*known) {
		unseen->row = must(reallocarray(unseen->row, unseen->nr_rows + 1, sizeof(*unseen->row)));
		unseen->row[unseen->nr_rows++] = (struct unseen_row){.thread = thread, .tid = thread->tid};
		*known = unseen->nr_rows;
	}
	return &unseen->row[*known - 1];
}

/* Before its first event, the thread may have been in a call that began before the log. */
static bool is_doubtful(const struct unseen *unseen, const struct unseen_row *row, bool has_events)
{
	return !row->has_events && has_events && !unseen->waits->has_beginning;
}

static void take(void *arg, const struct state_period *period)
{
	struct unseen *unseen = arg;
	struct unseen_row *row;

	if (period->state != THREAD_BLOCKED || period->object)
		return;
	row = row_of(unseen, period->thread);
	if (is_doubtful(unseen, row, period->has_events)) {
		durations_free(&row->durations);
		row->durations = (struct durations){.n = 0};
	}
	row->has_events = period->has_events;
	memcpy(row->name, period->thread->name, sizeof(row->name));
	durations_add(&row->durations, period->until_ns - period->from_ns);
}

static int compare(const void *a, const void *b)
{
	const struct unseen_row *left = a, *right = b;

	if (left->durations.sum != right->durations.sum)
		return left->durations.sum > right->durations.sum ? -1 : 1;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

void unseen_begin(struct unseen *unseen, const struct waits *waits, struct source *source,
		  const struct selection *selection)
{
	*unseen = (struct unseen){.waits = waits};
	state_periods_begin(&unseen->periods, source, selection, take, unseen);
}

void unseen_spent(struct unseen *unseen, const struct sched_thread *thread, const struct waiter *waiter,
		  enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	state_periods_spent(&unseen->periods, thread, waiter, state, from_ns, until_ns);
}

void unseen_end(struct unseen *unseen)
{
	size_t nr = 0;

	state_periods_end(&unseen->periods);
	for (size_t i = 0; i < unseen->nr_rows; i++) {
		struct unseen_row *row = &unseen->row[i];

		unsigned int context = row->thread->context;
		bool has_events = context != 0 && map_find(&unseen->waits->waiter_of, context) != 0;

		if (is_doubtful(unseen, row, has_events)) {
			durations_free(&row->durations);
			continue;
		}
		row->context = context;
		row->has_events = has_events;
		unseen->row[nr++] = *row;
	}
	unseen->nr_rows = nr;
	map_free(&unseen->row_of);
	if (nr > 0)
		qsort(unseen->row, nr, sizeof(*unseen->row), compare);
}

void unseen_free(struct unseen *unseen)
{
	for (size_t i = 0; i < unseen->nr_rows; i++)
		durations_free(&unseen->row[i].durations);
	free(unseen->row);
}

/* Return the length of the part of the trace that is in the range. */
static int64_t length_of_range(const struct unseen *unseen)
{
	int64_t from_ns = unseen->waits->states.first_ns, until_ns = unseen->waits->states.now_ns;

	if (from_ns < unseen->periods.range.from_ns)
		from_ns = unseen->periods.range.from_ns;
	if (until_ns > unseen->periods.range.until_ns)
		until_ns = unseen->periods.range.until_ns;
	return until_ns > from_ns ? until_ns - from_ns : 0;
}

/* The rows are in the order of their times. */
static const struct unseen_row *find_first(const struct unseen *unseen, unsigned int context)
{
	for (size_t i = 0; i < unseen->nr_rows; i++)
		if (context != 0 ? unseen->row[i].context == context : unseen->row[i].has_events)
			return &unseen->row[i];
	return context == 0 && unseen->nr_rows > 0 ? &unseen->row[0] : NULL;
}

const struct unseen_row *unseen_most(const struct unseen *unseen, unsigned int context)
{
	const struct unseen_row *most = find_first(unseen, context);

	return most && most->durations.sum > length_of_range(unseen) / SMALL_PART ? most : NULL;
}

const char *unseen_name(const struct unseen *unseen, const struct unseen_row *row, char text[UNSEEN_NAME_BYTES])
{
	snprintf(text, UNSEEN_NAME_BYTES, "tid %lld", (long long)row->tid);
	return row->context ? source_context_name(unseen->periods.source, row->context) :
	       row->name[0] ? row->name :
			      text;
}

static void put(const struct unseen *unseen, struct table *table, struct unseen_row *row)
{
	char text[UNSEEN_NAME_BYTES];

	table_string(table, unseen_name(unseen, row, text));
	table_number(table, (uint64_t)row->tid);
	table_number(table, row->durations.n);
	table_duration(table, row->durations.sum);
	table_duration(table, (int64_t)durations_percentile(&row->durations, 50));
	table_duration(table, (int64_t)durations_percentile(&row->durations, 99));
	table_duration(table, (int64_t)row->durations.largest);
}

void unseen_print(struct unseen *unseen, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false}, {"TID", "tid", true},
						{"Times", "times", true},    {"Total", "total_s", true},
						{"p50", "p50_s", true},	     {"p99", "p99_s", true},
						{"max", "max_s", true},	     {0}};

	if (unseen->nr_rows == 0)
		return;
	table_begin(table, "Blocked without a Recorded Call", "blocked_unseen", columns, 2);
	for (size_t i = 0; i < unseen->nr_rows; i++)
		put(unseen, table, &unseen->row[i]);
	table_end(table);
	table_note(table, "  no recorded call shows what these threads waited for, or when they were woken");
}
