/* SPDX-License-Identifier: MIT */
/* The reports about threads, CPUs and processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/units.h"
#include "report/report.h"
#include "trace/wait_status.h"

/* In a log without scheduling records, or where the kernel lost some, times of threads are estimates. */
static bool has_estimates(const struct report *report)
{
	return !report->source->file.foreign && (!report->has_records || report->events.waits.states.nr_gaps > 0);
}

/*
 * Begin a table with times of threads.  If they are estimates, a text has a mark in the titles of the columns, and JSON
 * and CSV have one more column, which put_mark() fills.
 */
static void begin_times(const struct report *report, struct table *table, const char *title, const char *key,
			const struct column *columns, int nr_labels)
{
	static struct column marked[TABLE_COLUMNS + 1]; /* the table uses it until its end */
	int nr = 0;

	memset(marked, 0, sizeof(marked));
	for (; columns[nr].title; nr++) {
		marked[nr] = columns[nr];
		if (!has_estimates(report) || table->format != FORMAT_TEXT)
			continue;
		if (strcmp(columns[nr].title, "Time/s") == 0)
			marked[nr].title = "~Time/s";
		else if (strcmp(columns[nr].title, "Percent") == 0)
			marked[nr].title = "~Percent";
	}
	if (has_estimates(report) && table->format != FORMAT_TEXT)
		marked[nr] = (struct column){"Estimated", "estimated", true};
	table_begin(table, title, key, marked, nr_labels);
}

/* End a row of a table of begin_times(). */
static void put_mark(const struct report *report, struct table *table)
{
	if (has_estimates(report) && table->format != FORMAT_TEXT)
		table_string(table, "true");
}

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

/* Put a time, the part of the range that it is, and the mark. */
static void put_time(const struct report *report, struct table *table, int64_t ns)
{
	table_seconds(table, ns);
	table_percent(table, (double)ns, (double)report_events_duration(&report->events));
	put_mark(report, table);
}

/* The same of a thread or a process whose time may be not known. */
static void put_time_of(const struct report *report, struct table *table, int64_t time, bool is_known)
{
	if (is_known) {
		table_seconds(table, report_events_ns(&report->events, time));
		table_percent(table, (double)time, (double)report_events_duration(&report->events));
	} else {
		table_unknown(table);
		table_unknown(table);
	}
}

/* A thread without events, of which only the scheduling records are known. */
static void put_bare_profile(const struct report *report, struct table *table, const struct states_row *row)
{
	report_put_name(report, table, row);
	table_unknown(table);
	table_number(table, 0);
	put_time(report, table, row->times.ns[THREAD_RUNNING]);
}

static void put_bare_performance(const struct report *report, struct table *table, const struct states_row *row)
{
	report_put_name(report, table, row);
	table_number(table, 0);
	table_number(table, row->nr_switches);
	table_number(table, row->nr_migrations);
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
	put_time_of(report, table, ctx->time, !ctx->is_untimed);
	put_mark(report, table);
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

	begin_times(report, table, "Execution Profile", "execution_profile",
		    report->source->file.foreign ? of_buffer : of_log, 1);
	put_contexts(report, table, put_profile);
	report_put_bare(report, table, put_bare_profile);
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
	if (ctx->is_untimed) {
		table_unknown(table);
		table_unknown(table);
		return;
	}
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
	report_put_bare(report, table, put_bare_performance);
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
	int64_t first_ns = report->events.source->first_ns;

	table_string(table, inversion->blocked->name);
	put_mutex(report, table, inversion->mutex);
	table_number(table, (uint64_t)inversion->blocked_priority);
	table_string(table, inversion->owner->name);
	table_number(table, (uint64_t)inversion->owner_priority);
	table_number(table, inversion->number);
	table_time(table, first_ns + report_events_ns(&report->events, inversion->begin), first_ns);
	if (inversion->length >= 0)
		table_seconds(table, report_events_ns(&report->events, inversion->length));
	else
		table_unknown(table);
	if (report->has_records)
		table_duration(table, inversion->without_cpu);
	if (inversion->culprit)
		table_string(table, inversion->culprit->name);
	else
		table_unknown(table);
}

#define INVERSION_COLUMNS                                                                                              \
	{"Thread", "thread", false}, {"Mutex", "mutex", false}, {"Priority", "priority", true},                        \
		{"Owner", "owner", false}, {"Its Priority", "owner_priority", true}, {"Event", "event", true},         \
		{"Begin/s", "begin_s", true}, {"Length/s", "length_s", true}

void report_print_inversions(const struct report *report, struct table *table)
{
	static const struct column of_events[] = {
		INVERSION_COLUMNS, {"Non-deterministic by", "ran_meanwhile", false}, {0}};
	static const struct column of_records[] = {INVERSION_COLUMNS,
						   {"Owner without CPU", "owner_without_cpu_s", true},
						   {"Preempted by", "ran_meanwhile", false},
						   {0}};
	const struct inversions *inversions = report->inversions;
	size_t nr = inversions ? inversions->nr_kept : 0;
	uint64_t nr_all = inversions ? inversions->nr_deterministic + inversions->nr_other : 0;

	table_begin(table, "Priority Inversions", "priority_inversions",
		    report->has_records ? of_records : of_events, 2);
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

static void put_bare_on_cpus(const struct report *report, struct table *table, const struct states_row *row)
{
	for (unsigned int i = 0; i < report->cpus.end; i++) {
		unsigned int cpu = cpu_number(i);
		int64_t ns = states_row_time_on(&report->states, (size_t)(row - report->states.row), cpu);

		if (ns == 0)
			continue;
		table_number(table, cpu);
		report_put_name(report, table, row);
		put_time(report, table, ns);
	}
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
	begin_times(report, table, "CPUs by Thread", "cpus_by_thread", columns, 2);
	for (size_t i = 0; i < counts->nr_pairs; i++) {
		const struct pair *pair = counts->pair[i];

		if (report->has_records && pair->time == 0)
			continue;
		table_number(table, cpu_number((unsigned int)pair->number));
		table_string(table, pair->ctx->name);
		table_seconds(table, report_events_ns(&report->events, pair->time));
		table_percent(table, (double)pair->time,
			      (double)report_events_duration(&report->events));
		put_mark(report, table);
	}
	report_put_bare(report, table, put_bare_on_cpus);
	table_end(table);
}

void report_print_cpus(const struct report *report, struct table *table)
{
	static const struct column columns[] = {
		{"CPU", "cpu", true},		{"Events", "events", true},
		{"Switches", "switches", true}, {"Time/s", "time_s", true},
		{"Percent", "percent", true},	{0}};

	begin_times(report, table, "CPUs", "cpus", columns, 1);
	for (unsigned int i = 0; i < report->cpus.end; i++) {
		const struct cpu *cpu = &report->cpus.cpu[i];

		if (cpu->nr_events == 0 && cpu->time == 0)
			continue;
		table_number(table, cpu_number(i));
		table_number(table, cpu->nr_events);
		table_number(table, cpu->nr_switches);
		table_seconds(table, report_events_ns(&report->events, cpu->time));
		table_percent(table, (double)cpu->time,
			      (double)report_events_duration(&report->events));
		put_mark(report, table);
	}
	table_end(table);
	print_threads_on_cpus(report, table);
}

/* Processes. */

struct process_sum {
	uint64_t nr_threads, nr_events;
	int64_t time;
	bool is_untimed;
};

/*
 * Return true if the context is a thread of the process that the map does not have yet.  A thread that executes a
 * program has a context for each program.
 */
static bool is_new_thread(struct map *threads, const struct context *ctx, size_t process)
{
	uint64_t *seen;

	if (ctx->context == CONTEXT_IDLE)
		return false;
	if (!ctx->object || ctx->object->tid == 0)
		return true;
	seen = map_get(threads, (uint64_t)process << 32 | (uint32_t)ctx->object->tid);
	return (*seen)++ == 0;
}

/* Return the sums of each process.  The caller frees the list. */
static struct process_sum *sum_processes(const struct report *report)
{
	const struct count_map *counts = &report->of_processes;
	struct map threads = {.nr_places = 0};
	struct process_sum *sums = must(calloc(report->processes.nr + 1, sizeof(*sums)));

	for (size_t i = 0; i < counts->nr_pairs; i++) {
		const struct pair *pair = counts->pair[i];
		struct process_sum *sum = &sums[pair->number];
		bool is_thread = pair->ctx->context != CONTEXT_IDLE;

		if (pair->count == 0)
			continue;
		sum->nr_threads += is_new_thread(&threads, pair->ctx, pair->number);
		sum->nr_events += pair->count;
		if (is_thread && pair->ctx->process == pair->number)
			units_add(&sum->time, pair->ctx->time);
		sum->is_untimed |= is_thread && pair->ctx->is_untimed;
	}
	map_free(&threads);
	return sums;
}

size_t report_count_processes(const struct report *report)
{
	return report->processes.nr;
}

static void put_string(struct table *table, const char *string)
{
	if (string)
		table_string(table, string);
	else
		table_unknown(table);
}

static void put_status(struct table *table, const struct process *process)
{
	char status[64];

	if (process->has_status)
		wait_status_text(process->status, status, sizeof(status));
	put_string(table, process->has_status ? status : NULL);
}

/* In text, the command is indented, and a process without a command of its own has its name in brackets. */
static void put_command_text(struct table *table, const struct process *process, unsigned int depth)
{
	const char *command = process->untraced ?: process->command ?: process->name ?: "?";
	bool is_bracketed = !process->untraced && !process->command && process->name;
	bool is_traced = process->has_events && !process->untraced;
	char *text;

	if (asprintf(&text, "%*s%s%s%s%s", 2 * (int)(depth < 40 ? depth : 40), "",
		     is_bracketed ? "[" : "", command, is_bracketed ? "]" : "",
		     is_traced ? "" : " (not traced)") < 0)
		text = NULL;
	table_string(table, must(text));
	free(text);
}

static void put_command_data(struct table *table, const struct process *process)
{
	put_string(table, process->name);
	put_string(table, process->command);
	put_string(table, process->untraced);
	table_string(table, process->has_events ? "yes" : "no");
}

static void put_process(const struct report *report, struct table *table, size_t i,
			unsigned int depth, const struct process_sum *sum)
{
	const struct process *process = &report->processes.process[i];

	table_number(table, (uint64_t)process->pid);
	if (process->parent_pid > 0)
		table_number(table, (uint64_t)process->parent_pid);
	else
		table_unknown(table);
	table_number(table, sum->nr_threads);
	table_number(table, sum->nr_events);
	put_time_of(report, table, sum->time, !sum->is_untimed);
	put_status(table, process);
	if (table->format == FORMAT_TEXT)
		put_command_text(table, process, depth);
	else
		put_command_data(table, process);
	put_mark(report, table);
}

#define PROCESS_COLUMNS                                                                            \
	{"PID", "pid", true}, {"Parent", "parent", true}, {"Threads", "threads", true},            \
		{"Events", "events", true}, {"Time/s", "time_s", true},                            \
		{"Percent", "percent", true}, {"Status", "status", false}

void report_print_processes(const struct report *report, struct table *table)
{
	static const struct column of_text[] = {PROCESS_COLUMNS, {"Command", "command", false}, {0}};
	static const struct column of_data[] = {PROCESS_COLUMNS,
						{"Name", "name", false},
						{"Command", "command", false},
						{"Not traced", "untraced", false},
						{"Traced", "traced", false},
						{0}};
	struct process_sum *sums = sum_processes(report);
	unsigned int *depth;
	size_t *order = processes_order(&report->processes, &depth);

	begin_times(report, table, "Processes", "processes",
		    table->format == FORMAT_TEXT ? of_text : of_data, 1);
	for (size_t i = 0; i < report->processes.nr; i++)
		put_process(report, table, order[i], depth[i], &sums[order[i]]);
	table_end(table);
	free(order);
	free(depth);
	free(sums);
}
