/* SPDX-License-Identifier: MIT */
#include "waits/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/calls.h"
#include "trace/sched.h"
#include "waits/state_periods.h"

/* At the last look. */
struct seen {
	struct state_times times;
	uint64_t nr_switches, nr_migrations;
};

/* Waits for an object since the last look. */
struct lock {
	const struct awaited *object;
	int64_t waited_ns;
	uint64_t nr_waits;
};

/* A thread as the kernel counts it. */
struct counted {
	pid_t pid, tid;
	char name[16];
	bool is_new, is_alive;
	int64_t from_ns, until_ns;
	int64_t ran_from_ns, ran_ns, ready_from_ns, ready_ns;
};

struct top {
	struct source *source;
	struct waits waits;
	struct waits_listener listener;
	struct seen *seen; /* the index is that of the thread in the model */
	size_t nr_seen;
	struct lock *lock; /* the index is that of the object in the model */
	size_t nr_locks;
	struct counted *counted;
	size_t nr_counted;
	struct map nr_events; /* key: handle; value: events of the thread since the last look */
	int64_t begin_ns;     /* the time of the last look, in the trace */
	uint64_t nr_begin;    /* number of events until then */
	bool has_begun;
};

struct row {
	char name[64];
	pid_t tid;
	const char *state;
	bool is_known, is_estimated;
	struct state_times times;
	uint64_t nr_events, nr_switches, nr_migrations;
};

static const char *const sorts[] = {[TOP_RUNNING] = "running",
				    [TOP_READY] = "ready",
				    [TOP_BLOCKED] = "blocked",
				    [TOP_EVENTS] = "events",
				    [TOP_NAME] = "name"};

#define NR_SORTS (sizeof(sorts) / sizeof(sorts[0]))

bool top_parse_sort(const char *word, enum top_sort *sort)
{
	for (size_t i = 0; i < NR_SORTS; i++) {
		if (strcmp(word, sorts[i]) != 0)
			continue;
		*sort = (enum top_sort)i;
		return true;
	}
	message("--sort takes running, ready, blocked, events or name, not %s", word);
	return false;
}

/* Reading. */

static void take_wait(void *arg, const struct wait *wait)
{
	struct top *top = arg;
	size_t index = wait->object->index;

	if (wait->object->handle == 0)
		return;
	if (index >= top->nr_locks) {
		size_t nr = 2 * index + 64;

		top->lock = must(reallocarray(top->lock, nr, sizeof(*top->lock)));
		memset(top->lock + top->nr_locks, 0, (nr - top->nr_locks) * sizeof(*top->lock));
		top->nr_locks = nr;
	}
	top->lock[index].object = wait->object;
	top->lock[index].nr_waits++;
	if (wait->end_ns > wait->begin_ns)
		units_add(&top->lock[index].waited_ns, wait->end_ns - wait->begin_ns);
}

struct top *top_new(struct source *source)
{
	struct top *top = must(calloc(1, sizeof(*top)));

	top->source = source;
	top->listener = (struct waits_listener){.arg = top, .ended = take_wait};
	waits_init(&top->waits, source, &top->listener);
	calls_expand(source);
	return top;
}

void top_free(struct top *top)
{
	waits_free(&top->waits);
	map_free(&top->nr_events);
	free(top->seen);
	free(top->lock);
	free(top->counted);
	free(top);
}

void top_read(struct top *top)
{
	struct event event;

	while (calls_next(top->source, &event)) {
		if (!top->has_begun)
			top->begin_ns = event.time_ns;
		top->has_begun = true;
		if (!event.is_made && !sched_is_record(event.type))
			++*map_get(&top->nr_events, event.context);
		waits_event(&top->waits, &event, true);
	}
}

static struct counted *counted_of(struct top *top, pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < top->nr_counted; i++)
		if (top->counted[i].pid == pid && top->counted[i].tid == tid)
			return &top->counted[i];
	top->counted = must(reallocarray(top->counted, top->nr_counted + 1, sizeof(*top->counted)));
	top->counted[top->nr_counted] = (struct counted){.pid = pid, .tid = tid, .is_new = true};
	return &top->counted[top->nr_counted++];
}

void top_count_thread(struct top *top, pid_t pid, pid_t tid, const char *name, int64_t at_ns, int64_t ran_ns,
		      int64_t ready_ns)
{
	struct counted *counted = counted_of(top, pid, tid);

	snprintf(counted->name, sizeof(counted->name), "%s", name);
	if (counted->is_new || ran_ns < counted->ran_from_ns) { /* another thread may have got the id */
		counted->from_ns = at_ns;
		counted->ran_from_ns = ran_ns;
		counted->ready_from_ns = ready_ns;
	}
	counted->is_new = false;
	counted->is_alive = true;
	counted->until_ns = at_ns;
	counted->ran_ns = ran_ns;
	counted->ready_ns = ready_ns;
}

/* Rows. */

static const struct seen *seen_of(const struct top *top, const struct sched_thread *thread)
{
	static const struct seen nothing;

	return thread->index < top->nr_seen ? &top->seen[thread->index] : &nothing;
}

static void name_row(const struct top *top, struct row *row, unsigned int context, const char *name)
{
	if (context != 0)
		snprintf(row->name, sizeof(row->name), "%s", source_context_name(top->source, context));
	else if (*name)
		snprintf(row->name, sizeof(row->name), "%s", name);
	else
		snprintf(row->name, sizeof(row->name), "tid %lld", (long long)row->tid);
}

/* Return false if the thread had ended before the last look. */
static bool row_of_sched(struct top *top, const struct sched_thread *thread, struct row *row)
{
	const struct seen *seen = seen_of(top, thread);
	struct state_times now = thread_states_until(thread, top->waits.states.now_ns);

	*row = (struct row){.tid = thread->tid, .is_known = true, .state = state_period_name(thread->state)};
	row->times = state_times_between(&seen->times, &now);
	if (thread->has_ended && state_times_sum(&row->times) == 0)
		return false;
	if (thread->has_ended)
		row->state = "ended";
	name_row(top, row, thread->context, thread->name);
	row->nr_switches = thread->nr_switches - seen->nr_switches;
	row->nr_migrations = thread->nr_migrations - seen->nr_migrations;
	row->nr_events = thread->context ? map_find(&top->nr_events, thread->context) : 0;
	return true;
}

/* The rest of the time is taken for time blocked. */
static bool row_of_counted(struct top *top, const struct counted *counted, struct row *row)
{
	const struct txtrace_object *object = source_thread(top->source, counted->tid);
	int64_t rest_ns = counted->until_ns - counted->from_ns;

	if (!counted->is_alive)
		return false;
	*row = (struct row){.tid = counted->tid, .is_known = rest_ns > 0, .is_estimated = true};
	row->times.ns[THREAD_RUNNING] = counted->ran_ns - counted->ran_from_ns;
	row->times.ns[THREAD_PREEMPTED] = counted->ready_ns - counted->ready_from_ns;
	rest_ns -= row->times.ns[THREAD_RUNNING] + row->times.ns[THREAD_PREEMPTED];
	row->times.ns[THREAD_BLOCKED] = rest_ns > 0 ? rest_ns : 0;
	if (object && object->pid == counted->pid)
		row->nr_events = map_find(&top->nr_events, object->handle);
	name_row(top, row, object && object->pid == counted->pid ? object->handle : 0, counted->name);
	return true;
}

static bool row_of_waiter(const struct top *top, const struct waiter *waiter, struct row *row)
{
	const struct txtrace_object *object = source_object(top->source, waiter->context);

	if (!object || object->type != OBJECT_THREAD)
		return false;
	*row = (struct row){.tid = object->tid, .nr_events = map_find(&top->nr_events, waiter->context)};
	name_row(top, row, waiter->context, "");
	return row->nr_events > 0;
}

static struct row *make_rows(struct top *top, size_t *nr)
{
	struct row *row = must(calloc(top->waits.states.nr_threads + top->nr_counted + top->waits.nr_waiters + 1,
				      sizeof(*row)));

	*nr = 0;
	if (top->waits.states.has_records)
		for (const struct sched_thread *at = top->waits.states.first; at; at = at->next)
			*nr += row_of_sched(top, at, &row[*nr]);
	else if (top->nr_counted > 0)
		for (size_t i = 0; i < top->nr_counted; i++)
			*nr += row_of_counted(top, &top->counted[i], &row[*nr]);
	else
		for (const struct waiter *at = top->waits.first_waiter; at; at = at->next)
			*nr += row_of_waiter(top, at, &row[*nr]);
	return row;
}

static enum top_sort order;

static int64_t value_of(const struct row *row)
{
	switch (order) {
	case TOP_RUNNING:
		return row->times.ns[THREAD_RUNNING];
	case TOP_READY:
		return state_times_ready(&row->times);
	case TOP_BLOCKED:
		return row->times.ns[THREAD_BLOCKED];
	case TOP_EVENTS:
		return (int64_t)row->nr_events;
	default:
		return 0;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int64_t first = value_of(left), second = value_of(right);
	int names = strcmp(left->name, right->name);

	if (first != second)
		return first > second ? -1 : 1;
	return names != 0 ? names : left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Printing. */

static int64_t interval_ns(const struct top *top)
{
	return top->has_begun ? top->waits.end_ns - top->begin_ns : 0;
}

/* The kernel's times of a thread are of an interval of their own, between two looks at them. */
static void put_share(const struct top *top, struct table *table, const struct row *row, int64_t ns)
{
	int64_t all = row->is_estimated ? state_times_sum(&row->times) : interval_ns(top);
	char text[24];

	if (!row->is_known || all <= 0) {
		table_unknown(table);
		return;
	}
	snprintf(text, sizeof(text), "%s%.1f", row->is_estimated && table->format == FORMAT_TEXT ? "~" : "",
		 100.0 * (double)ns / (double)all);
	table_string(table, text);
}

static void put_thread(const struct top *top, struct table *table, const struct row *row)
{
	table_string(table, row->name);
	table_number(table, (uint64_t)row->tid);
	if (row->state)
		table_string(table, row->state);
	else
		table_unknown(table);
	put_share(top, table, row, row->times.ns[THREAD_RUNNING]);
	put_share(top, table, row, state_times_ready(&row->times));
	put_share(top, table, row, row->times.ns[THREAD_BLOCKED]);
	put_share(top, table, row, row->times.ns[THREAD_UNKNOWN]);
	if (table->format != FORMAT_TEXT)
		table_string(table, row->is_estimated ? "true" : "false");
	if (row->is_known && !row->is_estimated) {
		table_number(table, row->nr_switches);
		table_number(table, row->nr_migrations);
	} else {
		table_unknown(table);
		table_unknown(table);
	}
	table_number(table, row->nr_events);
}

static void print_threads(struct top *top, struct table *table, size_t most)
{
	static const struct column text[] = {{"Thread", "thread", false},	{"TID", "tid", true},
					     {"State", "state", false},	{"Running%", "running", true},
					     {"Ready%", "ready", true},		{"Blocked%", "blocked", true},
					     {"Not Known%", "unknown", true},	{"Switches", "switches", true},
					     {"Migrations", "migrations", true}, {"Events", "events", true},
					     {0}};
	static const struct column data[] = {{"Thread", "thread", false},	{"TID", "tid", true},
					     {"State", "state", false},	{"Running%", "running", true},
					     {"Ready%", "ready", true},		{"Blocked%", "blocked", true},
					     {"Not Known%", "unknown", true},	{"Estimated", "estimated", true},
					     {"Switches", "switches", true},	{"Migrations", "migrations", true},
					     {"Events", "events", true},	{0}};
	size_t nr;
	struct row *row = make_rows(top, &nr);

	qsort(row, nr, sizeof(*row), compare_rows);
	table_begin(table, "Threads", "threads", table->format == FORMAT_TEXT ? text : data, 2);
	for (size_t i = 0; i < nr && (most == 0 || i < most); i++)
		put_thread(top, table, &row[i]);
	table_end(table);
	if (most > 0 && nr > most)
		table_note(table, "  %zu more threads", nr - most);
	if (nr > 0 && row[0].is_estimated)
		table_note(
			table,
			"  there are no scheduling records: shares are estimates by the kernel's times of each thread");
	else if (!top->waits.states.has_records)
		table_note(table, "  there are no scheduling records, so it is not known when threads ran");
	free(row);
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock *left = *(const struct lock *const *)a, *right = *(const struct lock *const *)b;

	if (left->waited_ns != right->waited_ns)
		return left->waited_ns > right->waited_ns ? -1 : 1;
	return strcmp(left->object->name, right->object->name);
}

static void print_locks(const struct top *top, struct table *table, size_t most)
{
	static const struct column columns[] = {{"Object", "object", false},	{"Waits", "waits", true},
						{"Waited", "waited_s", true},	{"Waiting Now", "waiting", true},
						{"Holder", "holder", false},	{0}};
	const struct lock **lock = must(calloc(top->nr_locks + 1, sizeof(*lock)));
	size_t nr = 0;

	for (size_t i = 0; i < top->nr_locks; i++)
		if (top->lock[i].nr_waits > 0)
			lock[nr++] = &top->lock[i];
	qsort(lock, nr, sizeof(*lock), compare_locks);
	table_begin(table, "Waits", "waits", columns, 1);
	for (size_t i = 0; i < nr && (most == 0 || i < most); i++) {
		const struct awaited *object = lock[i]->object;
		char text[256];

		waits_describe(object, text, sizeof(text));
		table_string(table, text);
		table_number(table, lock[i]->nr_waits);
		table_duration(table, lock[i]->waited_ns);
		table_number(table, object->nr_waiters);
		if (object->is_lock && object->holds)
			table_string(table, object->holds->thread->name);
		else
			table_unknown(table);
	}
	table_end(table);
	free(lock);
}

static void print_summary(const struct top *top, struct table *table)
{
	static const struct column columns[] = {{"Interval", "interval_s", true},
						{"Events", "events", true},
						{"Events/s", "events_per_s", true},
						{"Lost", "lost", true},
						{"Records Lost", "records_lost", true},
						{0}};
	int64_t length_ns = interval_ns(top);
	uint64_t nr = top->source->nr_read - top->nr_begin;

	table_begin(table, "Top", "top", columns, 1);
	table_duration(table, length_ns);
	table_number(table, nr);
	if (length_ns > 0)
		table_number(table, (uint64_t)((double)nr * 1e9 / (double)length_ns + 0.5));
	else
		table_unknown(table);
	table_number(table, source_nr_lost(top->source) + source_missing(top->source));
	table_number(table, top->source->sched_lost);
	table_end(table);
}

void top_print(struct top *top, struct table *table, enum top_sort sort, size_t most)
{
	order = sort;
	print_summary(top, table);
	print_threads(top, table, most);
	print_locks(top, table, most);
}

void top_next(struct top *top)
{
	const struct thread_states *states = &top->waits.states;

	if (states->nr_threads > top->nr_seen) {
		top->seen = must(reallocarray(top->seen, states->nr_threads, sizeof(*top->seen)));
		memset(top->seen + top->nr_seen, 0, (states->nr_threads - top->nr_seen) * sizeof(*top->seen));
		top->nr_seen = states->nr_threads;
	}
	for (const struct sched_thread *at = states->first; at; at = at->next)
		top->seen[at->index] = (struct seen){.times = thread_states_until(at, states->now_ns),
						     .nr_switches = at->nr_switches,
						     .nr_migrations = at->nr_migrations};
	for (size_t i = 0; i < top->nr_counted; i++) {
		top->counted[i].is_alive = false;
		top->counted[i].from_ns = top->counted[i].until_ns;
		top->counted[i].ran_from_ns = top->counted[i].ran_ns;
		top->counted[i].ready_from_ns = top->counted[i].ready_ns;
	}
	for (size_t i = 0; i < top->nr_locks; i++)
		top->lock[i] = (struct lock){.object = top->lock[i].object};
	map_free(&top->nr_events);
	top->nr_events = (struct map){0};
	top->begin_ns = top->waits.end_ns;
	top->nr_begin = top->source->nr_read;
}
