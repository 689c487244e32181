/* SPDX-License-Identifier: MIT */
/* The reports on scheduling records: Thread States and Scheduling Latency. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/report.h"

void report_put_name(const struct report *report, struct table *table, const struct states_row *row)
{
	const struct context *ctx = row->context ? contexts_find(&report->contexts, row->context) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "tid %lld", (long long)row->tid);
	table_string(table, ctx ? ctx->name : row->name[0] ? row->name : text);
}

void report_put_bare(const struct report *report, struct table *table,
		     void (*put)(const struct report *report, struct table *table, const struct states_row *row))
{
	for (size_t i = 0; i < report->states.nr_rows; i++)
		if (report->states.row[i].context == 0 && report->states.row[i].times.ns[THREAD_RUNNING] > 0)
			put(report, table, &report->states.row[i]);
}

/* Put the name and the tid of a thread. */
static void put_thread(const struct report *report, struct table *table, const struct states_row *row)
{
	report_put_name(report, table, row);
	table_number(table, (uint64_t)row->tid);
}

void report_print_states(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false},	     {"TID", "tid", true},
						{"Ran", "ran_s", true},		     {"Preempted", "preempted_s", true},
						{"Woken", "woken_s", true},	     {"Blocked", "blocked_s", true},
						{"Not Known", "unknown_s", true}, {"All", "all_s", true},
						{0}};
	static const enum thread_state order[] = {THREAD_RUNNING, THREAD_PREEMPTED, THREAD_WOKEN, THREAD_BLOCKED,
						  THREAD_UNKNOWN};

	table_begin(table, "Thread States", "thread_states", columns, 2);
	for (size_t i = 0; i < report->states.nr_rows; i++) {
		const struct states_row *row = &report->states.row[i];

		if (state_times_sum(&row->times) == 0)
			continue;
		put_thread(report, table, row);
		for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
			table_duration(table, row->times.ns[order[k]]);
		table_duration(table, state_times_sum(&row->times));
	}
	table_end(table);
	if (report->events.waits.states.nr_gaps > 0)
		table_note(table, "  scheduling records are missing in %llu gap%s",
			   (unsigned long long)report->events.waits.states.nr_gaps,
			   report->events.waits.states.nr_gaps == 1 ? "" : "s");
}

/* In text, a mark says that the number is an estimate. */
static void put_estimate(struct table *table, int64_t ns)
{
	char number[32], text[40];

	if (table->format != FORMAT_TEXT) {
		table_duration(table, ns);
		return;
	}
	units_duration(number, sizeof(number), ns);
	snprintf(text, sizeof(text), "~%s", number);
	table_string(table, text);
}

static void put_counted(const struct report *report, struct table *table, const struct counted_row *row)
{
	const struct context *ctx = row->context ? contexts_find(&report->contexts, row->context) : NULL;
	int64_t all_ns = row->until_ns - row->from_ns, rest_ns = all_ns - row->ran_ns - row->ready_ns;

	table_string(table, ctx ? ctx->name : row->name);
	table_number(table, (uint64_t)row->tid);
	put_estimate(table, row->ran_ns);
	if (row->knows_ready) {
		put_estimate(table, row->ready_ns);
		put_estimate(table, rest_ns > 0 ? rest_ns : 0);
	} else {
		table_unknown(table);
		table_unknown(table);
	}
	table_duration(table, all_ns);
	if (table->format != FORMAT_TEXT)
		table_string(table, "true");
}

void report_print_counted(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false},   {"TID", "tid", true},
						{"Ran", "ran_s", true},	       {"Ready", "ready_s", true},
						{"Blocked", "blocked_s", true}, {"All", "all_s", true},
						{"Estimated", "estimated", true}, {0}};
	struct column shown[sizeof(columns) / sizeof(columns[0])];

	memcpy(shown, columns, sizeof(shown));
	if (table->format == FORMAT_TEXT)
		shown[sizeof(columns) / sizeof(columns[0]) - 2] = (struct column){0};
	table_begin(table, "Thread States", "thread_states", shown, 2);
	for (size_t i = 0; i < report->counted.nr_rows; i++)
		if (report->counted.row[i].until_ns > report->counted.row[i].from_ns)
			put_counted(report, table, &report->counted.row[i]);
	table_end(table);
	table_note(table,
		   "  the log has no scheduling records: these are estimates by the kernel's times of each thread");
}

static void put_latencies(const struct report *report, struct table *table, struct states_row *row, const char *since,
			  struct durations *durations)
{
	if (durations->n == 0)
		return;
	put_thread(report, table, row);
	table_string(table, since);
	table_number(table, durations->n);
	table_duration(table, durations->sum);
	table_duration(table, (int64_t)durations_percentile(durations, 50));
	table_duration(table, (int64_t)durations_percentile(durations, 99));
	table_duration(table, (int64_t)durations->largest);
}

/* Put the mean number of threads over a time of this length. */
static void put_mean(struct table *table, int64_t ns, double length)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f", (double)ns / length);
	table_string(table, text);
}

static void put_run_queue(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Start", "start_s", true},
						{"Length", "length_s", true},
						{"Running", "running", true},
						{"Ready", "ready", true},
						{"Not Known", "unknown", true},
						{0}};
	const struct run_queue *queue = &report->states.run_queue;
	int64_t first_ns = report->events.source->first_ns;

	table_begin(table, "Run Queue", "run_queue", columns, 1);
	for (size_t i = 0; i < run_queue_rows(queue); i++) {
		double length = (double)run_queue_length(queue, i);

		table_time(table, first_ns + queue->begin_ns + (int64_t)i * queue->width_ns, first_ns);
		table_duration(table, (int64_t)length);
		put_mean(table, queue->running_ns[i], length);
		put_mean(table, queue->ready_ns[i], length);
		put_mean(table, queue->unknown_ns[i], length);
	}
	table_end(table);
}

void report_print_latency(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false}, {"TID", "tid", true},
						{"Since", "since", false},   {"Times", "times", true},
						{"Total", "total_s", true},  {"p50", "p50_s", true},
						{"p99", "p99_s", true},	     {"max", "max_s", true},
						{0}};
	static const struct column of_switches[] = {{"Thread", "thread", false},
						    {"TID", "tid", true},
						    {"Blocked", "blocked", true},
						    {"Wake-ups Known", "woken", true},
						    {"Migrations", "migrations", true},
						    {0}};

	table_begin(table, "Scheduling Latency", "scheduling_latency", columns, 2);
	for (size_t i = 0; i < report->states.nr_rows; i++) {
		struct states_row *row = &report->states.row[i];

		put_latencies(report, table, row, "woken", &row->woken);
		put_latencies(report, table, row, "preempted", &row->preempted);
	}
	table_end(table);
	table_begin(table, "Wake-ups and Migrations", "wakeups_migrations", of_switches, 2);
	for (size_t i = 0; i < report->states.nr_rows; i++) {
		const struct states_row *row = &report->states.row[i];

		put_thread(report, table, row);
		table_number(table, row->nr_blocked);
		table_number(table, row->woken.n);
		table_number(table, row->nr_migrations);
	}
	table_end(table);
	put_run_queue(report, table);
	if (!report->has_records)
		table_note(table, "  this log has no scheduling records");
}
