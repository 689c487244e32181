/* SPDX-License-Identifier: MIT */
/* The reports about threads, CPUs and processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "report/report.h"

/* Execution Profile. */

/*
 * Compare two contexts for qsort().  Threads come first, in descending order of their time; then come the other
 * contexts.
 */
static int compare_times(const void *a, const void *b)
{
	const struct context *left = *(struct context *const *)a;
	const struct context *right = *(struct context *const *)b;

	if (left->is_thread != right->is_thread)
		return left->is_thread ? -1 : 1;
	if (left->is_thread && left->time != right->time)
		return left->time > right->time ? -1 : 1;
	return left->context > right->context ? -1 : left->context < right->context;
}

/* For a ThreadX buffer, list all threads, as TraceX does. For a log, list only the threads with events. */
static bool is_listed(const struct report *report, const struct context *ctx)
{
	bool is_foreign = report->source->file.foreign;

	if (ctx->nr_events > 0 || ctx->time > 0)
		return ctx->is_thread || is_foreign;
	return is_foreign && (ctx->object || !ctx->is_thread);
}

static void put_contexts(const struct report *report, struct table *table,
			 void (*put)(const struct report *report, struct table *table,
				     const struct context *ctx))
{
	size_t nr = report->contexts.nr_contexts;
	struct context **sorted = must(reallocarray(NULL, nr, sizeof(struct context *)));

	memcpy(sorted, report->contexts.ctx, nr * sizeof(struct context *));
	qsort(sorted, nr, sizeof(struct context *), compare_times);
	for (size_t i = 0; i < nr; i++)
		put(report, table, sorted[i]);
	free(sorted);
}

static void put_profile(const struct report *report, struct table *table, const struct context *ctx)
{
	char handle[16];

	if (!is_listed(report, ctx))
		return;
	snprintf(handle, sizeof(handle), "%08x", ctx->context);
	table_string(table, ctx->name);
	table_string(table, handle);
	table_number(table, ctx->nr_events);
	if (report->source->file.foreign)
		table_number(table, (uint64_t)ctx->time);
	table_seconds(table, report_events_ns(&report->events, ctx->time));
	table_percent(table, (double)ctx->time, (double)report_events_duration(&report->events));
}

void report_print_profile(const struct report *report, struct table *table)
{
	static const struct column of_buffer[] = {{"Thread", "thread", false},
						  {"Context", "context", false},
						  {"Events", "events", true},
						  {"Ticks", "ticks", true},
						  {"Time/s", "time_s", true},
						  {"Percent", "percent", true},
						  {0}};
	static const struct column of_log[] = {
		{"Thread", "thread", false},  {"Context", "context", false},
		{"Events", "events", true},   {"Time/s", "time_s", true},
		{"Percent", "percent", true}, {0}};

	table_begin(table, "Execution Profile", "execution_profile",
		    report->source->file.foreign ? of_buffer : of_log, 1);
	put_contexts(report, table, put_profile);
	table_end(table);
}

/* Performance Statistics. */

static void put_statistic(struct table *table, const char *name, uint64_t occurrences)
{
	table_string(table, name);
	table_number(table, occurrences);
}

static void put_statistics_of_buffer(const struct report *report, struct table *table)
{
	const struct statistics *statistics = &report->statistics;
	const struct inversions *inversions = report->inversions;

	put_statistic(table, "Context Switches", statistics->nr_switches);
	put_statistic(table, "Time Slices", statistics->nr_time_slices);
	put_statistic(table, "Thread Preemptions", statistics->nr_preemptions);
	put_statistic(table, "Thread Suspensions", statistics->nr_suspensions);
	put_statistic(table, "Thread Resumptions", statistics->nr_resumptions);
	put_statistic(table, "Interrupts", statistics->nr_interrupts);
	put_statistic(table, "Nested Interrupts", statistics->nr_nested);
	put_statistic(table, "Priority Inversions",
		      inversions->nr_deterministic + inversions->nr_other);
	put_statistic(table, "Deterministic Inversions", inversions->nr_deterministic);
	put_statistic(table, "Non-deterministic Inversions", inversions->nr_other);
}

static void put_performance(const struct report *report, struct table *table,
			    const struct context *ctx)
{
	bool is_foreign = report->source->file.foreign;

	if (!ctx->is_thread || !is_listed(report, ctx))
		return;
	table_string(table, ctx->name);
	table_number(table, ctx->nr_events);
	table_number(table, is_foreign ? ctx->nr_suspensions : ctx->nr_switches);
	table_number(table, is_foreign ? ctx->nr_resumptions : ctx->nr_migrations);
}

void report_print_performance(const struct report *report, struct table *table)
{
	static const struct column columns[] = {
		{"Statistic", "statistic", false}, {"Occurrences", "occurrences", true}, {0}};
	static const struct column of_buffer[] = {{"Thread", "thread", false},
						  {"Events", "events", true},
						  {"Suspensions", "suspensions", true},
						  {"Resumptions", "resumptions", true},
						  {0}};
	static const struct column of_log[] = {{"Thread", "thread", false},
					       {"Events", "events", true},
					       {"Switches to it", "switches", true},
					       {"Migrations", "migrations", true},
					       {0}};
	bool is_foreign = report->source->file.foreign;

	table_begin(table, "Performance Statistics", "performance_statistics", columns, 1);
	if (is_foreign) {
		put_statistics_of_buffer(report, table);
	} else {
		put_statistic(table, "Context Switches", report->cpus.nr_switches);
		put_statistic(table, "Thread Migrations", report->cpus.nr_migrations);
	}
	table_end(table);
	table_begin(table, "Performance Statistics by Thread", "performance_statistics_by_thread",
		    is_foreign ? of_buffer : of_log, 1);
	put_contexts(report, table, put_performance);
	table_end(table);
}

/* Thread Stack Usage. */

bool report_has_stacks(const struct report *report)
{
	for (size_t i = 0; i < report->contexts.nr_contexts; i++)
		if (report->contexts.ctx[i]->has_stack)
			return true;
	return false;
}

static void put_stack(const struct report *report, struct table *table, const struct context *ctx)
{
	uint32_t size = ctx->object ? ctx->object->parameter[1] : 0;

	if (!report->source->file.foreign || size == 0 || !ctx->is_thread)
		return;
	table_string(table, ctx->name);
	table_number(table, size);
	if (!ctx->has_stack) {
		for (int i = 0; i < 4; i++)
			table_unknown(table);
		return;
	}
	table_number(table, size - ctx->stack_left);
	table_number(table, ctx->stack_left);
	table_percent(table, size - ctx->stack_left, size);
	table_number(table, ctx->stack_event);
}

void report_print_stacks(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false},
						{"Stack Size", "size", true},
						{"Used", "used", true},
						{"Availability", "available", true},
						{"Percent", "percent", true},
						{"Event", "event", true},
						{0}};

	table_begin(table, "Thread Stack Usage", "thread_stack_usage", columns, 1);
	put_contexts(report, table, put_stack);
	table_end(table);
}

/* Priority inversions. */

static void put_mutex(const struct report *report, struct table *table, unsigned int handle)
{
	const struct txtrace_object *object = source_object(report->source, handle);
	char unknown[16];

	snprintf(unknown, sizeof(unknown), "%08x", handle);
	table_string(table, object && object->name[0] ? object->name : unknown);
}

static void put_inversion(const struct report *report, struct table *table,
			  const struct inversion *inversion)
{
	table_string(table, inversion->blocked->name);
	put_mutex(report, table, inversion->mutex);
	table_number(table, (uint64_t)inversion->blocked_priority);
	table_string(table, inversion->owner->name);
	table_number(table, (uint64_t)inversion->owner_priority);
	table_number(table, inversion->number);
	table_seconds(table, report_events_ns(&report->events, inversion->begin));
	if (inversion->length >= 0)
		table_seconds(table, report_events_ns(&report->events, inversion->length));
	else
		table_unknown(table);
	if (inversion->culprit)
		table_string(table, inversion->culprit->name);
	else
		table_unknown(table);
}

void report_print_inversions(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false},
						{"Mutex", "mutex", false},
						{"Priority", "priority", true},
						{"Owner", "owner", false},
						{"Its Priority", "owner_priority", true},
						{"Event", "event", true},
						{"Begin/s", "begin_s", true},
						{"Length/s", "length_s", true},
						{"Non-deterministic by", "ran_meanwhile", false},
						{0}};
	const struct inversions *inversions = report->inversions;
	size_t nr = inversions ? inversions->nr_kept : 0;
	uint64_t nr_all = inversions ? inversions->nr_deterministic + inversions->nr_other : 0;

	table_begin(table, "Priority Inversions", "priority_inversions", columns, 2);
	for (size_t i = 0; i < nr; i++)
		put_inversion(report, table, &inversions->kept[i]);
	table_end(table);
	if (nr_all > nr)
		table_note(table, "  and %llu more; --from and --filter choose",
			   (unsigned long long)(nr_all - nr));
}

/* CPUs. */

static int compare_cpus(const void *a, const void *b)
{
	const struct pair *left = *(struct pair *const *)a;
	const struct pair *right = *(struct pair *const *)b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	if (left->time != right->time)
		return left->time > right->time ? -1 : 1;
	return strcmp(left->ctx->name, right->ctx->name);
}

static void print_threads_on_cpus(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"CPU", "cpu", true},
						{"Thread", "thread", false},
						{"Time/s", "time_s", true},
						{"Percent", "percent", true},
						{0}};
	const struct count_map *counts = &report->on_cpus;

	if (counts->nr_pairs > 0)
		qsort(counts->pair, counts->nr_pairs, sizeof(struct pair *), compare_cpus);
	table_begin(table, "CPUs by Thread", "cpus_by_thread", columns, 2);
	for (size_t i = 0; i < counts->nr_pairs; i++) {
		const struct pair *pair = counts->pair[i];

		table_number(table, pair->number);
		table_string(table, pair->ctx->name);
		table_seconds(table, report_events_ns(&report->events, pair->time));
		table_percent(table, (double)pair->time,
			      (double)report_events_duration(&report->events));
	}
	table_end(table);
}

void report_print_cpus(const struct report *report, struct table *table)
{
	static const struct column columns[] = {
		{"CPU", "cpu", true},		{"Events", "events", true},
		{"Switches", "switches", true}, {"Time/s", "time_s", true},
		{"Percent", "percent", true},	{0}};

	table_begin(table, "CPUs", "cpus", columns, 1);
	for (unsigned int i = 0; i < CPUS_MAX; i++) {
		const struct cpu *cpu = &report->cpus.cpu[i];

		if (cpu->nr_events == 0)
			continue;
		table_number(table, i);
		table_number(table, cpu->nr_events);
		table_number(table, cpu->nr_switches);
		table_seconds(table, report_events_ns(&report->events, cpu->time));
		table_percent(table, (double)cpu->time,
			      (double)report_events_duration(&report->events));
	}
	table_end(table);
	print_threads_on_cpus(report, table);
}

/* Processes. */

struct process {
	pid_t pid;
	uint64_t nr_threads, nr_events;
	int64_t time;
};

static int compare_pids(const void *a, const void *b)
{
	const struct process *left = a, *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

/* Return the processes with events, sorted by pid.  The caller frees the list. */
static struct process *find_processes(const struct report *report, size_t *nr)
{
	const struct count_map *counts = &report->of_processes;
	struct process *list = must(calloc(counts->nr_pairs + 1, sizeof(*list)));
	size_t n = 0, nr_pairs = 0;

	for (size_t i = 0; i < counts->nr_pairs; i++) {
		const struct pair *pair = counts->pair[i];
		const struct context *ctx = pair->ctx;
		pid_t pid = (pid_t)pair->number;
		bool is_thread = ctx->context != CONTEXT_IDLE;

		if (pair->count > 0)
			list[nr_pairs++] =
				(struct process){pid, is_thread, pair->count,
						 is_thread && ctx->pid == pid ? ctx->time : 0};
	}
	qsort(list, nr_pairs, sizeof(*list), compare_pids);
	for (size_t i = 0; i < nr_pairs; i++) {
		if (n > 0 && list[n - 1].pid == list[i].pid) {
			list[n - 1].nr_threads += list[i].nr_threads;
			list[n - 1].nr_events += list[i].nr_events;
			units_add(&list[n - 1].time, list[i].time);
		} else {
			list[n++] = list[i];
		}
	}
	*nr = n;
	return list;
}

size_t report_count_processes(const struct report *report)
{
	size_t nr;

	free(find_processes(report, &nr));
	return nr;
}

void report_print_processes(const struct report *report, struct table *table)
{
	static const struct column columns[] = {
		{"PID", "pid", true},	      {"Threads", "threads", true},
		{"Events", "events", true},   {"Time/s", "time_s", true},
		{"Percent", "percent", true}, {0}};
	size_t nr;
	struct process *list = find_processes(report, &nr);

	table_begin(table, "Processes", "processes", columns, 1);
	for (size_t i = 0; i < nr; i++) {
		table_number(table, (uint64_t)list[i].pid);
		table_number(table, list[i].nr_threads);
		table_number(table, list[i].nr_events);
		table_seconds(table, report_events_ns(&report->events, list[i].time));
		table_percent(table, (double)list[i].time,
			      (double)report_events_duration(&report->events));
	}
	table_end(table);
	free(list);
}
