/* SPDX-License-Identifier: MIT */
#include "waits/blocked.h"

#include <stdio.h>
#include <string.h>

#include "base/durations.h"
#include "base/memory.h"

/* A row of the report: all waits for one object, by one thread or by all threads. */
struct row {
	const struct waiter *thread; /* NULL means all threads */
	const struct awaited *object;
	uint64_t nr_unended;
	struct durations durations;
	struct wait longest;
	struct stretch holder_did; /* the longest wait of the holder in that time */
	int64_t holder_waited_ns, holder_known_ns;
	struct row *next;
};

struct blocked {
	const struct blocked_options *options;
	struct waits waits;
	struct map row_of;
	struct row *first;
	size_t nr_rows;
};

bool blocked_parse_sort(const char *word, enum blocked_sort *order)
{
	static const char *const words[] = {"total", "waits", "p50", "p99", "max", "name"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*order = (enum blocked_sort)i;
			return true;
		}
	}
	message("--sort is total, waits, p50, p99, max or name, not %s", word);
	return false;
}

static struct row *row_of(struct blocked *blocked, const struct wait *wait)
{
	bool by_thread = blocked->options->by_thread;
	uint64_t key = (uint64_t)wait->object->index << 32 |
		       (by_thread ? (uint32_t)wait->thread->index : UINT32_MAX);
	uint64_t *known = map_get(&blocked->row_of, key);
	struct row *row;

	if (*known)
		return (struct row *)(uintptr_t)*known;
	row = must(calloc(1, sizeof(*row)));
	row->thread = by_thread ? wait->thread : NULL;
	row->object = wait->object;
	row->longest.end_ns = row->longest.begin_ns - 1;
	row->next = blocked->first;
	blocked->first = row;
	blocked->nr_rows++;
	*known = (uintptr_t)row;
	return row;
}

static void find_holder_activity(struct row *row, const struct wait *wait)
{
	int64_t since = waits_known_since(wait->holder);
	int64_t from = since > wait->begin_ns ? since : wait->begin_ns;

	row->holder_known_ns = wait->end_ns - from;
	row->holder_waited_ns = waits_within(wait->holder, from, wait->end_ns, &row->holder_did);
}

static void take_wait(void *arg, const struct wait *wait)
{
	int64_t length = wait->end_ns - wait->begin_ns;
	struct blocked *blocked = arg;
	struct row *row;

	if (!wait->counts || length < 0)
		return;
	row = row_of(blocked, wait);
	row->nr_unended += !wait->has_ended;
	durations_add(&row->durations, length);
	if (length <= row->longest.end_ns - row->longest.begin_ns)
		return;
	row->longest = *wait;
	row->holder_waited_ns = 0;
	if (wait->holder)
		find_holder_activity(row, wait);
}

/* Return the value to sort by.  Rows with larger values come first.  Rows with equal values are sorted by name. */
static int64_t value_of(struct row *row, enum blocked_sort order)
{
	switch (order) {
	case BLOCKED_TOTAL:
		return row->durations.sum;
	case BLOCKED_WAITS:
		return (int64_t)row->durations.n;
	case BLOCKED_P50:
		return (int64_t)durations_percentile(&row->durations, 50);
	case BLOCKED_P99:
		return (int64_t)durations_percentile(&row->durations, 99);
	case BLOCKED_MAX:
		return (int64_t)row->durations.largest;
	default:
		return 0;
	}
}

static enum blocked_sort sorted_by; /* qsort() passes no further argument to its callback */

static int compare_rows(const void *a, const void *b)
{
	struct row *left = *(struct row *const *)a, *right = *(struct row *const *)b;
	int64_t one, other;

	if (left->thread != right->thread)
		return strcmp(left->thread->name, right->thread->name);
	one = value_of(left, sorted_by);
	other = value_of(right, sorted_by);
	if (one != other)
		return one > other ? -1 : 1;
	return strcmp(left->object->name, right->object->name);
}

/* Print the holder, and what the holder did: "ran", or what it waited for. */
static void put_holder(struct table *table, const struct row *row)
{
	const struct wait *wait = &row->longest;
	const struct stretch *did = &row->holder_did;
	char text[160];

	if (!wait->holder) {
		table_unknown(table);
		table_unknown(table);
		return;
	}
	table_string(table, wait->holder->name);
	if (2 * row->holder_waited_ns < row->holder_known_ns)
		snprintf(text, sizeof(text), "ran");
	else if (did->object->kind)
		waits_describe(did->object, stpcpy(text, "waited for "), sizeof(text) - 16);
	else
		snprintf(text, sizeof(text), "%s", did->object->name);
	table_string(table, text);
}

static void put_row(struct table *table, struct row *row)
{
	if (row->thread)
		table_string(table, row->thread->name);
	table_string(table, row->object->name);
	if (row->object->kind)
		table_string(table, row->object->kind);
	else
		table_unknown(table);
	table_number(table, row->durations.n);
	table_number(table, row->nr_unended);
	table_seconds(table, row->durations.sum);
	table_seconds(table, (int64_t)durations_percentile(&row->durations, 50));
	table_seconds(table, (int64_t)durations_percentile(&row->durations, 99));
	table_seconds(table, (int64_t)row->durations.largest);
	if (!row->thread)
		table_string(table, row->longest.thread->name);
	put_holder(table, row);
}

static struct row **sort_rows(const struct blocked *blocked, enum blocked_sort order)
{
	struct row **rows = must(calloc(blocked->nr_rows + 1, sizeof(*rows)));
	size_t nr = 0;

	for (struct row *row = blocked->first; row; row = row->next)
		rows[nr++] = row;
	sorted_by = order;
	qsort(rows, nr, sizeof(*rows), compare_rows);
	return rows;
}

static void print(const struct blocked *blocked, struct table *table)
{
	static const struct column columns[] = {
		{"Thread", "thread", false},	{"Object", "object", false},
		{"Type", "type", false},	{"Waits", "waits", true},
		{"Unended", "unended", true},	{"Total/s", "total_s", true},
		{"p50/s", "p50_s", true},	{"p99/s", "p99_s", true},
		{"max/s", "max_s", true},	{"Holder", "holder", false},
		{"Which", "holder_did", false}, {0}};
	static const struct column of_objects[] = {{"Object", "object", false},
						   {"Type", "type", false},
						   {"Waits", "waits", true},
						   {"Unended", "unended", true},
						   {"Total/s", "total_s", true},
						   {"p50/s", "p50_s", true},
						   {"p99/s", "p99_s", true},
						   {"max/s", "max_s", true},
						   {"Longest Waiter", "longest_waiter", false},
						   {"Holder", "holder", false},
						   {"Which", "holder_did", false},
						   {0}};
	struct row **rows = sort_rows(blocked, blocked->options->order);

	if (blocked->options->by_thread)
		table_begin(table, "Blocked by Thread", "blocked_by_thread", columns, 2);
	else
		table_begin(table, "Blocked", "blocked", of_objects, 1);
	for (size_t i = 0; i < blocked->nr_rows; i++)
		put_row(table, rows[i]);
	table_end(table);
	if (blocked->waits.nr_broken > 0)
		table_note(table, "  and %llu waits whose end is missing",
			   (unsigned long long)blocked->waits.nr_broken);
	free(rows);
}

void blocked_print(struct source *source, const struct selection *selection,
		   const struct blocked_options *options, struct table *table)
{
	struct blocked blocked = {.options = options};
	const struct waits_listener listener = {.arg = &blocked, .ended = take_wait};

	waits_read(&blocked.waits, source, selection, &listener);
	print(&blocked, table);
	for (struct row *row = blocked.first, *next; row; row = next) {
		next = row->next;
		durations_free(&row->durations);
		free(row);
	}
	map_free(&blocked.row_of);
	waits_free(&blocked.waits);
}
