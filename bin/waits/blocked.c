/* SPDX-License-Identifier: MIT */
#include "waits/blocked.h"

#include <stdio.h>
#include <string.h>

#include "base/durations.h"
#include "base/memory.h"
#include "base/units.h"
#include "trace/programs.h"
#include "trace/states.h"
#include "trace/symbols.h"
#include "waits/unseen.h"
#include "waits/why_words.h"

/* A row of the report: all waits for one object, by one thread or by all threads, at one call site or at all. */
struct row {
	const struct waiter *thread; /* NULL means all threads */
	const struct awaited *object;
	uint64_t site; /* 0: all call sites, or the site is not known */
	unsigned int nr_threads; /* number of threads that waited at this site */
	unsigned int nr_waiting, most_waiting; /* number of threads that wait at the same time */
	size_t number;
	uint64_t nr_unended;
	struct durations durations;
	struct wait longest;
	/* From scheduling records. */
	int64_t blocked_ns, ready_ns;
	uint64_t nr_woken; /* waits with a known wake-up: ready_ns is of these */
	struct row *next;
};

struct blocked {
	const struct blocked_options *options;
	struct waits waits;
	struct unseen unseen;
	struct map row_of;
	struct map has_waited; /* key: a row and a thread */
	struct symbols *symbols; /* NULL: the file is a ThreadX buffer */
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
	message("--sort takes total, waits, p50, p99, max or name, not %s", word);
	return false;
}

static struct row *row_of(struct blocked *blocked, const struct wait *wait)
{
	bool by_thread = blocked->options->by_thread;
	uint64_t site = blocked->options->by_site ? wait->address : 0;
	uint64_t part = by_thread ? wait->thread->index + 1 : site;
	uint64_t *known = map_get(&blocked->row_of, (uint64_t)wait->object->index << 48 ^ part);
	struct row *row;

	if (*known)
		return (struct row *)(uintptr_t)*known;
	row = must(calloc(1, sizeof(*row)));
	row->thread = by_thread ? wait->thread : NULL;
	row->object = wait->object;
	row->site = site;
	row->number = blocked->nr_rows;
	row->longest.end_ns = row->longest.begin_ns - 1;
	row->next = blocked->first;
	blocked->first = row;
	blocked->nr_rows++;
	*known = (uintptr_t)row;
	return row;
}

static void take_begin(void *arg, const struct wait *wait)
{
	struct blocked *blocked = arg;
	struct row *row;
	uint64_t *has_waited;

	if (!wait->counts)
		return;
	row = row_of(blocked, wait);
	if (++row->nr_waiting > row->most_waiting)
		row->most_waiting = row->nr_waiting;
	has_waited = map_get(&blocked->has_waited, (uint64_t)row->number << 32 | wait->thread->index);
	row->nr_threads += *has_waited == 0;
	*has_waited = 1;
}

static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	(void)at_ns;
	if (wait->counts)
		row_of(arg, wait)->nr_waiting--;
}

static void add_spent(struct row *row, const struct state_times *times)
{
	units_add(&row->blocked_ns, times->ns[THREAD_BLOCKED]);
	if (times->ns[THREAD_WOKEN] == 0)
		return;
	row->nr_woken++;
	units_add(&row->ready_ns, state_times_ready(times));
}

static void take_wait(void *arg, const struct wait *wait)
{
	int64_t length = wait->end_ns - wait->begin_ns;
	struct blocked *blocked = arg;
	struct row *row;

	if (!wait->counts)
		return;
	row = row_of(blocked, wait);
	row->nr_waiting--;
	if (length < 0)
		return;
	row->nr_unended += !wait->has_ended;
	durations_add(&row->durations, length);
	add_spent(row, &wait->spent.times);
	if (length <= row->longest.end_ns - row->longest.begin_ns)
		return;
	row->longest = *wait;
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct blocked *blocked = arg;

	unseen_spent(&blocked->unseen, thread, waiter, state, from_ns, until_ns);
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
	if (left->object != right->object)
		return strcmp(left->object->name, right->object->name);
	return (left->site > right->site) - (left->site < right->site);
}

/*
 * Return true if the threads of a pool wait here for work: several threads waited at this place at the same time, for
 * something that no thread holds and that wakes up one of them.
 */
static bool is_pool(const struct row *row)
{
	static const char *const others[] = {"barrier", "once", "thread", "mutex", "rwlock", "spin lock"};
	const char *kind = row->object->kind;

	if (row->object->is_lock || row->most_waiting < 2 || row->longest.state == STATE_SLEEP)
		return false;
	for (size_t i = 0; kind && i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(kind, others[i]) == 0)
			return false;
	return true;
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

/* Columns.  Each function puts the cell of one column. */

static void put_thread(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_string(table, row->thread->name);
}

static void put_object(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_string(table, row->object->name);
}

static void put_site(const struct blocked *blocked, struct table *table, struct row *row)
{
	const char *name = blocked->symbols ? symbols_code(blocked->symbols, row->site) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)code_address(row->site));
	if (row->site != 0)
		table_string(table, name ? name : text);
	else
		table_unknown(table);
}

static void put_type(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	if (row->object->kind)
		table_string(table, row->object->kind);
	else
		table_unknown(table);
}

static void put_nr_threads(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_number(table, row->nr_threads);
}

static void put_at_once(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_number(table, row->most_waiting);
}

static void put_waits(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_number(table, row->durations.n);
}

static void put_unended(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_number(table, row->nr_unended);
}

static void put_total(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_duration(table, row->durations.sum);
}

static void put_p50(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_duration(table, (int64_t)durations_percentile(&row->durations, 50));
}

static void put_p99(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_duration(table, (int64_t)durations_percentile(&row->durations, 99));
}

static void put_max(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_duration(table, (int64_t)row->durations.largest);
}

static void put_blocked(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	if (row->blocked_ns > 0)
		table_duration(table, row->blocked_ns);
	else
		table_unknown(table);
}

static void put_ready(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	if (row->nr_woken > 0)
		table_duration(table, row->ready_ns);
	else
		table_unknown(table);
}

static void put_longest_waiter(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	table_string(table, row->longest.thread->name);
}

static void put_holder(const struct blocked *blocked, struct table *table, struct row *row)
{
	(void)blocked;
	if (row->longest.holder)
		table_string(table, row->longest.holder->name);
	else
		table_unknown(table);
}

/*
 * What a thread did for most of a time in which it waited in no recorded call.  Without scheduling records, the trace
 * does not show whether it had a CPU, or waited in a call that is not traced.
 */
static const char *did_most(const struct state_times *times)
{
	int64_t ran = times->ns[THREAD_RUNNING], ready = state_times_ready(times), blocked = times->ns[THREAD_BLOCKED];

	if (times->ns[THREAD_UNKNOWN] >= ran + ready + blocked)
		return "~ran";
	if (ran >= ready && ran >= blocked)
		return "ran";
	return ready >= blocked ? "had no CPU" : "was blocked";
}

/* Return true if the holder had ended for most of the time. */
static bool had_ended(const struct wait *wait)
{
	const struct sched_thread *holder = wait->holder->sched;
	const struct holder_activity *did = &wait->did;

	return holder && holder->has_ended && 2 * (did->until_ns - holder->end_ns) > did->until_ns - did->from_ns;
}

/* What the holder did while it held the object. */
static void put_holder_did(const struct blocked *blocked, struct table *table, struct row *row)
{
	const struct wait *wait = &row->longest;
	const struct holder_activity *did = &wait->did;
	char text[160];

	(void)blocked;
	if (!wait->holder) {
		table_unknown(table);
	} else if (wait->holder == wait->thread) {
		table_string(table, "waited for its own lock");
	} else if (!did->is_known) {
		table_unknown(table);
	} else if (had_ended(wait)) {
		table_string(table, "had ended");
	} else if (2 * did->waited_ns < did->until_ns - did->from_ns || !did->object) {
		table_string(table, did_most(&did->spent.times));
	} else if (did->object->kind) {
		waits_describe(did->object, stpcpy(text, "waited for "), sizeof(text) - 16);
		table_string(table, text);
	} else {
		table_string(table, did->object->name);
	}
}

enum blocked_column {
	COLUMN_END,
	COLUMN_THREAD,
	COLUMN_OBJECT,
	COLUMN_SITE,
	COLUMN_TYPE,
	COLUMN_THREADS,
	COLUMN_AT_ONCE,
	COLUMN_WAITS,
	COLUMN_UNENDED,
	COLUMN_TOTAL,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_MAX,
	COLUMN_BLOCKED,
	COLUMN_READY,
	COLUMN_LONGEST_WAITER,
	COLUMN_HOLDER,
	COLUMN_HOLDER_DID
};

static const struct {
	struct column column;
	void (*put)(const struct blocked *blocked, struct table *table, struct row *row);
} columns[] = {
	[COLUMN_THREAD] = {{"Thread", "thread", false}, put_thread},
	[COLUMN_OBJECT] = {{"Object", "object", false}, put_object},
	[COLUMN_SITE] = {{"Call Site", "site", false}, put_site},
	[COLUMN_TYPE] = {{"Type", "type", false}, put_type},
	[COLUMN_THREADS] = {{"Threads", "threads", true}, put_nr_threads},
	[COLUMN_AT_ONCE] = {{"At Once", "at_once", true}, put_at_once},
	[COLUMN_WAITS] = {{"Waits", "waits", true}, put_waits},
	[COLUMN_UNENDED] = {{"Unended", "unended", true}, put_unended},
	[COLUMN_TOTAL] = {{"Total", "total_s", true}, put_total},
	[COLUMN_P50] = {{"p50", "p50_s", true}, put_p50},
	[COLUMN_P99] = {{"p99", "p99_s", true}, put_p99},
	[COLUMN_MAX] = {{"max", "max_s", true}, put_max},
	[COLUMN_BLOCKED] = {{"Blocked", "blocked_s", true}, put_blocked},
	[COLUMN_READY] = {{"Ready", "ready_s", true}, put_ready},
	[COLUMN_LONGEST_WAITER] = {{"Longest Waiter", "longest_waiter", false}, put_longest_waiter},
	[COLUMN_HOLDER] = {{"Holder", "holder", false}, put_holder},
	[COLUMN_HOLDER_DID] = {{"Which", "holder_did", false}, put_holder_did},
};

/* Tables. */

#define COLUMNS_OF_TIMES                                                                           \
	COLUMN_WAITS, COLUMN_UNENDED, COLUMN_TOTAL, COLUMN_P50, COLUMN_P99, COLUMN_MAX, COLUMN_BLOCKED, COLUMN_READY
#define COLUMNS_OF_HOLDER COLUMN_HOLDER, COLUMN_HOLDER_DID

struct blocked_table {
	const char *title, *key;
	int nr_labels;
	bool has_pools; /* the table has the idle waits of pools, and no other table has them */
	enum blocked_column columns[TABLE_COLUMNS + 1];
};

static const struct blocked_table by_thread = {
	"Blocked by Thread", "blocked_by_thread", 2, false,
	{COLUMN_THREAD, COLUMN_OBJECT, COLUMN_TYPE, COLUMNS_OF_TIMES, COLUMNS_OF_HOLDER}};
static const struct blocked_table by_object = {
	"Blocked", "blocked", 1, false,
	{COLUMN_OBJECT, COLUMN_TYPE, COLUMNS_OF_TIMES, COLUMN_LONGEST_WAITER, COLUMNS_OF_HOLDER}};
static const struct blocked_table by_site = {
	"Blocked by Call Site", "blocked_by_site", 2, false,
	{COLUMN_OBJECT, COLUMN_SITE, COLUMN_TYPE, COLUMNS_OF_TIMES, COLUMN_LONGEST_WAITER, COLUMNS_OF_HOLDER}};
static const struct blocked_table of_pools = {
	"Idle Waits of Pools", "idle_pools", 2, true,
	{COLUMN_OBJECT, COLUMN_SITE, COLUMN_TYPE, COLUMN_THREADS, COLUMN_AT_ONCE, COLUMNS_OF_TIMES}};

static const char *const minor[] = {"p50_s",   "p99_s",		 "type",       "unended",
				    "at_once", "longest_waiter", "holder_did", "holder", NULL};

/* Only scheduling records show when a waiting thread was woken, but had no CPU. */
static bool is_shown(const struct blocked *blocked, enum blocked_column column)
{
	return blocked->waits.states.has_records || (column != COLUMN_BLOCKED && column != COLUMN_READY);
}

static void print_table(const struct blocked *blocked, struct table *table, struct row **rows,
			const struct blocked_table *shown)
{
	struct column titles[TABLE_COLUMNS + 1] = {{0}};
	int nr = 0;

	for (int i = 0; shown->columns[i] != COLUMN_END; i++)
		if (is_shown(blocked, shown->columns[i]))
			titles[nr++] = columns[shown->columns[i]].column;
	table_begin(table, shown->title, shown->key, titles, shown->nr_labels);
	for (size_t i = 0; i < blocked->nr_rows; i++) {
		bool in_pools = blocked->options->by_site && is_pool(rows[i]);

		if (rows[i]->durations.n == 0 || in_pools != shown->has_pools)
			continue;
		for (int k = 0; shown->columns[k] != COLUMN_END; k++)
			if (is_shown(blocked, shown->columns[k]))
				columns[shown->columns[k]].put(blocked, table, rows[i]);
	}
	table_end(table);
}

/* is_listed: a list of the times outside of recorded waits follows. */
static void print_waits(const struct blocked *blocked, bool is_listed, struct table *table)
{
	const struct blocked_options *options = blocked->options;
	struct row **rows = sort_rows(blocked, options->order);
	const struct words untraced = why_untraced(&blocked->unseen, 0);

	table->minor = minor;
	print_table(blocked, table, rows,
		    options->by_thread ? &by_thread :
		    options->by_site   ? &by_site :
					 &by_object);
	if (options->by_site)
		print_table(blocked, table, rows, &of_pools);
	if (blocked->waits.nr_broken > 0)
		table_note(table, "  and %llu wait%s whose end is missing",
			   (unsigned long long)blocked->waits.nr_broken,
			   blocked->waits.nr_broken == 1 ? "" : "s");
	if (*untraced.text && !is_listed)
		table_note(table, "  and %s", untraced.text);
	free(rows);
}

void blocked_print(struct source *source, const struct selection *selection,
		   const struct blocked_options *options, struct table *table)
{
	struct blocked blocked = {.options = options};
	bool lists_unseen;
	const struct waits_listener listener = {.arg = &blocked,
						.began = take_begin,
						.ended = take_wait,
						.broken = take_broken,
						.spent = take_spent};

	if (options->by_site && !source->file.foreign)
		blocked.symbols = symbols_of_log(source->trace);
	unseen_begin(&blocked.unseen, &blocked.waits, source, selection);
	waits_read(&blocked.waits, source, selection, &listener);
	unseen_end(&blocked.unseen);
	waits_report_no_calls(&blocked.waits);
	lists_unseen = blocked.waits.states.has_records && !selection->filter;
	print_waits(&blocked, lists_unseen, table);
	if (lists_unseen)
		unseen_print(&blocked.unseen, table);
	unseen_free(&blocked.unseen);
	for (struct row *row = blocked.first, *next; row; row = next) {
		next = row->next;
		durations_free(&row->durations);
		free(row);
	}
	map_free(&blocked.row_of);
	map_free(&blocked.has_waited);
	symbols_free(blocked.symbols);
	waits_free(&blocked.waits);
}
