/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "report/profile.h"
#include "trace/calls.h"

/* TraceX has older names for these events than NetX Duo. */
#define RENAMED_FIRST 441
#define RENAMED_LAST 450

/* Read the file, and collect the data of all reports. */

static bool has_type(struct source *source, trace_event_id_t wanted)
{
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_rewind(source->trace);
	while (posix_trace_eventtypelist_getnext_id(source->trace, &id, &unavailable) == 0 &&
	       !unavailable)
		if (id == wanted)
			return true;
	return false;
}

static void count_service(struct report *report, const struct report_event *event)
{
	bool is_added = report->source->expansion && event->is_made; /* calls_next() made it */

	if (!event->counts || event->is_over || is_added)
		return;
	if (event->is_made) /* profile.c made it, from no call */
		counts_get(&report->services, event->ctx, (unsigned int)event->type)->count++;
	else
		counts_get(&report->services, event->caller, (unsigned int)event->service)->count += event->nr_calls;
}

static void gather_buffer(struct report *report)
{
	/* Only inversions need priorities, and each inversion begins with an event of this type. */
	struct profile *profile = profile_new(
		&report->events, has_type(report->source, FOREIGN_TYPES + NATIVE_MUTEX_GET));
	struct report_event event;

	report->inversions = inversions_new(&report->contexts);
	while (profile_next(profile, &event)) {
		statistics_event(&report->statistics, &event);
		inversions_event(report->inversions, &event);
		count_service(report, &event);
		if (event.is_made)
			continue;
		stack_event(&event);
		counters_event(&report->counts, &event);
		cpus_event(&report->cpus, &event);
	}
	statistics_end(&report->statistics);
	profile_free(profile);
}

/* By the tid: after an exec, a thread has two contexts, and its records one of them. */
static uint64_t thread_key(const struct context *ctx)
{
	return ctx->object && ctx->object->tid ? (uint64_t)ctx->object->tid << 32 : ctx->context;
}

/*
 * The scheduling records say how long threads ran, so the estimates of cpus.h are not needed.  In a merged log, one of
 * the logs may have no records.
 */
static void use_records(struct report *report)
{
	struct states *states = &report->states;
	struct map timed = {0}; /* the threads that have records */

	waits_end(&report->events.waits);
	states_end(states, &report->events.waits.states);
	report->has_records = report->events.waits.states.has_records;
	if (!report->has_records)
		return;
	for (size_t i = 0; i < states->nr_rows; i++)
		for (unsigned int cpu = 0; states->row[i].context != 0 && cpu < report->cpus.end; cpu++)
			if (states_time_on(states, states->row[i].context, cpu_number(cpu)) > 0)
				counts_get(&report->on_cpus,
					   contexts_get(&report->contexts, states->row[i].context), cpu);
	for (size_t i = 0; i < report->on_cpus.nr_pairs; i++) {
		struct pair *pair = report->on_cpus.pair[i];

		pair->time = states_time_on(states, pair->ctx->context, cpu_number((unsigned int)pair->number));
	}
	for (unsigned int cpu = 0; cpu < report->cpus.end; cpu++) {
		report->cpus.cpu[cpu].time = (int64_t)map_find(&states->time_of_cpu, cpu_number(cpu));
		report->cpus.cpu[cpu].nr_switches = map_find(&states->switches_of_cpu, cpu_number(cpu));
	}
	report->cpus.nr_switches = report->cpus.nr_migrations = 0;
	for (size_t i = 0; i < states->nr_rows; i++) {
		report->cpus.nr_switches += states->row[i].nr_switches;
		report->cpus.nr_migrations += states->row[i].nr_migrations;
	}
	for (size_t i = 0; i < states->nr_rows; i++) {
		const struct states_row *row = &states->row[i];

		*map_get(&timed, (uint64_t)row->tid << 32) = 1;
		*map_get(&timed, row->context) = 1;
	}
	for (size_t i = 0; i < report->contexts.nr_contexts; i++) {
		struct context *ctx = report->contexts.ctx[i];

		ctx->is_untimed = ctx->is_thread && map_find(&timed, thread_key(ctx)) == 0;
		ctx->nr_switches = map_find(&states->switches_of_context, ctx->context);
		ctx->nr_migrations = map_find(&states->migrations_of_context, ctx->context);
	}
	map_free(&timed);
}

/* What the kernel counted is nearer to the truth than an estimate from events. */
static void use_counts(struct report *report)
{
	for (size_t i = 0; i < report->counted.nr_rows; i++) {
		const struct counted_row *row = &report->counted.row[i];
		struct context *ctx;

		if (row->context == 0 || (row->until_ns <= row->from_ns && !row->is_late))
			continue;
		ctx = contexts_get(&report->contexts, row->context);
		ctx->time = row->ran_ns + (row->is_late ? row->ran_from_ns : 0);
		ctx->is_untimed = false;
	}
}

static void gather_log(struct report *report)
{
	struct report_event event;
	size_t process;

	report->states.events = &report->events;
	report->counted.events = &report->events;
	report->events.states = &report->states;
	calls_expand(report->source);
	processes_init(&report->processes, report->source);
	report_events_track_mutexes(&report->events);
	report->inversions = inversions_new(&report->contexts);
	while (report_events_next(&report->events, &event)) {
		statistics_count(&report->statistics, &event);
		inversions_event(report->inversions, &event);
		count_service(report, &event);
		if (!event.is_made)
			cpus_event(&report->cpus, &event);
		if (event.native == NATIVE_THREAD_SUSPEND)
			cpus_leave(&report->cpus, &event); /* the thread begins to wait, or ends */
		if (event.is_made)
			continue;
		counted_event(&report->counted, &report->events.raw);
		report->nr_gaps += event.type == POSIX_TRACE_OVERFLOW;
		process = processes_event(&report->processes, &report->events.raw);
		if (process == NO_PROCESS)
			continue;
		event.ctx->process = process;
		/* Events without a thread have one context, but may be of several processes. */
		counts_get(&report->of_processes, event.ctx, (unsigned int)process)->count +=
			event.counts;
	}
	processes_end(&report->processes);
}

void report_gather(struct report *report, struct source *source, const struct selection *selection)
{
	report->source = source;
	source->task = "reading";
	contexts_init(&report->contexts, source);
	report_events_init(&report->events, source, &report->contexts, selection);
	cpus_init(&report->cpus, &report->events, &report->on_cpus);
	if (source->file.foreign)
		gather_buffer(report);
	else
		gather_log(report);
	cpus_end(&report->cpus);
	if (!source->file.foreign)
		use_records(report);
	for (size_t i = 0; !source->file.foreign && i < report->on_cpus.nr_pairs; i++)
		units_add(&report->on_cpus.pair[i]->ctx->time, report->on_cpus.pair[i]->time);
	if (!source->file.foreign && !report->has_records)
		use_counts(report);
	contexts_disambiguate(&report->contexts);
}

void report_free(struct report *report)
{
	counts_free(&report->services);
	counts_free(&report->on_cpus);
	counts_free(&report->of_processes);
	processes_free(&report->processes);
	inversions_free(report->inversions);
	states_free(&report->states);
	counted_free(&report->counted);
	report_events_free(&report->events);
	contexts_free(&report->contexts);
}

/* Print the losses, before all reports. */

static void print_loss_notes(const struct report *report, struct table *table)
{
	struct source *source = report->source;
	const struct txtrace_loss *loss = &source->loss;
	char of_log[SOURCE_LOSS_BYTES];
	bool has_lost = source_log_loss(source, of_log, sizeof(of_log));

	if (has_lost)
		table_note(table, "the log lacks %s", of_log);
	if (source->file.foreign)
		table_note(table, "lost: unknown; a ThreadX buffer keeps the newest events");
	else if (loss->overwritten + loss->dropped + loss->abandoned + report->nr_gaps == 0)
		table_note(table, "lost: %s", has_lost			   ? "nothing else" :
					      source_incomplete(source) ? "nothing that was counted" :
									  "nothing");
	else
		table_note(table, "lost: %llu overwritten, %llu dropped, %llu abandoned; %llu gap%s",
			   loss->overwritten, loss->dropped, loss->abandoned,
			   (unsigned long long)report->nr_gaps, report->nr_gaps == 1 ? "" : "s");
	if (source->sched_gaps > 0)
		table_note(table, "lost by the kernel: %s%llu scheduling records; %llu gap%s",
			   source->sched_open ? "at least " : "", source->sched_lost, source->sched_gaps,
			   source->sched_gaps == 1 ? "" : "s");
	if (source_missing(source) > 0)
		table_note(table, "%llu events could not be read", (unsigned long long)source_missing(source));
	if (source_incomplete(source))
		table_note(table, "%s", source_incomplete(source));
}

static void print_losses(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"File", "file", false},
						{"Overwritten", "overwritten", true},
						{"Dropped", "dropped", true},
						{"Abandoned", "abandoned", true},
						{"Gaps", "gaps", true},
						{"By Log", "by_log", true},
						{"Complete", "complete", false},
						{0}};
	const struct source *source = report->source;
	bool is_known = !source->file.foreign;

	table_begin(table, "Losses", "losses", columns, 1);
	table_string(table, source->path);
	for (int i = 0; i < 5; i++) {
		const unsigned long long counts[] = {source->loss.overwritten, source->loss.dropped,
						     source->loss.abandoned, report->nr_gaps,
						     (unsigned int)source->file.nr_log_lost};

		if (is_known)
			table_number(table, counts[i]);
		else
			table_unknown(table);
	}
	if (is_known)
		table_string(table, source_incomplete(source) ? "no" : "yes");
	else
		table_unknown(table);
	table_end(table);
}

/* Events per second. */
static double rate_of(uint64_t nr_events, int64_t ns)
{
	return ns > 0 ? (double)nr_events * (double)NS_PER_S / (double)ns : 0;
}

static void print_trace_notes(const struct report *report, struct table *table)
{
	int64_t duration = report_events_duration(&report->events);
	int64_t ns = report_events_ns(&report->events, duration);
	uint64_t nr_events = report->statistics.nr_events - report->statistics.nr_made;

	table_note(table, "%s: %llu events in %lld.%09lld s, %.0f events/s", report->source->path,
		   (unsigned long long)nr_events, (long long)(ns / NS_PER_S),
		   (long long)(ns % NS_PER_S), rate_of(nr_events, ns));
	if (report->source->file.foreign)
		table_note(table,
			   "times: %lld ticks of %g ns; %llu Running events added, as in TraceX",
			   (long long)duration, report->source->file.tick_ns,
			   (unsigned long long)report->statistics.nr_made);
}

static void print_trace(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"File", "file", false},
						{"Kind", "kind", false},
						{"Events", "events", true},
						{"Made", "made", true},
						{"Time/s", "time_s", true},
						{"Events/s", "events_per_s", true},
						{"Ticks", "ticks", true},
						{"Tick/ns", "tick_ns", true},
						{0}};
	int64_t duration = report_events_duration(&report->events);
	int64_t ns = report_events_ns(&report->events, duration);
	uint64_t nr_events = report->statistics.nr_events - report->statistics.nr_made;
	bool is_foreign = report->source->file.foreign;

	table_begin(table, "Trace", "trace", columns, 1);
	table_string(table, report->source->path);
	table_string(table, is_foreign ? "ThreadX trace buffer" : "posixtrace log");
	table_number(table, nr_events);
	table_number(table, report->statistics.nr_made);
	table_seconds(table, ns);
	table_number(table, (uint64_t)(rate_of(nr_events, ns) + 0.5));
	if (is_foreign) {
		table_number(table, (uint64_t)duration);
		table_real(table, report->source->file.tick_ns);
	} else {
		table_unknown(table);
		table_unknown(table);
	}
	table_end(table);
}

/* Popular Services. */

static const char *service_name(const struct report *report, unsigned int type)
{
	unsigned int native = type >= FOREIGN_TYPES ? type - FOREIGN_TYPES : 0;
	const char *title = native_title(native);

	if (native == 0 || !title || (native >= RENAMED_FIRST && native <= RENAMED_LAST))
		return source_type_name(report->source, type);
	return title;
}

static int compare_counts(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static uint64_t count_services(const struct report *report)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->services.nr_pairs; i++)
		count += report->services.pair[i]->count;
	return count;
}

static void print_services(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Service", "service", false},
						{"Count", "count", true},
						{"Percent", "percent", true},
						{0}};
	uint64_t all = count_services(report);
	size_t nr;
	struct pair *sum = counts_sum(&report->services, &nr);

	qsort(sum, nr, sizeof(*sum), compare_counts);
	table_begin(table, "Popular Services", "popular_services", columns, 1);
	for (size_t i = 0; i < nr; i++) {
		table_string(table, service_name(report, sum[i].number));
		table_number(table, sum[i].count);
		table_percent(table, (double)sum[i].count, (double)all);
	}
	table_end(table);
	free(sum);
}

/* Compare for qsort(): by the names of the contexts, then by counts. */
static int compare_services(const void *a, const void *b)
{
	const struct pair *const *left = a, *const *right = b;
	int order = strcmp((*left)->ctx->name, (*right)->ctx->name);

	return order ? order : compare_counts(*left, *right);
}

static void print_services_of_threads(const struct report *report, struct table *table)
{
	static const struct column columns[] = {{"Thread", "thread", false},
						{"Service", "service", false},
						{"Count", "count", true},
						{"Percent", "percent", true},
						{0}};
	uint64_t all = count_services(report);

	if (report->services.nr_pairs > 0)
		qsort(report->services.pair, report->services.nr_pairs, sizeof(struct pair *),
		      compare_services);
	table_begin(table, "Popular Services by Thread", "popular_services_by_thread", columns, 2);
	for (size_t i = 0; i < report->services.nr_pairs; i++) {
		const struct pair *pair = report->services.pair[i];

		table_string(table, pair->ctx->name);
		table_string(table, service_name(report, pair->number));
		table_number(table, pair->count);
		table_percent(table, (double)pair->count, (double)all);
	}
	table_end(table);
}

/* FileX and NetX. */

static void print_counters(const struct report *report, struct table *table, enum counters_of of)
{
	static const struct column columns[] = {{"Of", "of", false},
						{"Statistic", "statistic", false},
						{"Count", "count", true},
						{0}};

	if (of == COUNTERS_FILEX)
		table_begin(table, "FileX Statistics", "filex_statistics", columns, 2);
	else
		table_begin(table, "NetX Statistics", "netx_statistics", columns, 2);
	for (size_t i = 0; report->counts.nr_events[of] > 0 && i < nr_counters; i++) {
		if (counters[i].of != of)
			continue;
		table_string(table, counters[i].section);
		table_string(table, counters[i].name);
		table_number(table, report->counts.value[i]);
	}
	table_end(table);
}

/* Return the reports that are not empty, as bits. */
static unsigned int kinds_of(const struct report *report)
{
	unsigned int kinds = REPORT_PROFILE | REPORT_PERFORMANCE | REPORT_SERVICES;

	if (report_has_stacks(report))
		kinds |= REPORT_STACKS;
	if (report->counts.nr_events[COUNTERS_FILEX] > 0)
		kinds |= REPORT_FILEX;
	if (report->counts.nr_events[COUNTERS_NETX] > 0)
		kinds |= REPORT_NETX;
	if (report->inversions && report->inversions->nr_kept > 0)
		kinds |= REPORT_INVERSIONS;
	if (cpus_count(&report->cpus) > 1)
		kinds |= REPORT_CPUS;
	if (report_count_processes(report) > 1)
		kinds |= REPORT_PROCESSES;
	return kinds;
}

void report_print(struct report *report, struct table *table, unsigned int kinds)
{
	if (kinds == 0)
		kinds = kinds_of(report);
	if (table->format == FORMAT_TEXT) {
		print_loss_notes(report, table);
		print_trace_notes(report, table);
	} else {
		print_losses(report, table);
		print_trace(report, table);
	}
	if (kinds & REPORT_PROFILE)
		report_print_profile(report, table);
	if (kinds & REPORT_PROFILE && report->has_records)
		report_print_states(report, table);
	else if (kinds & REPORT_PROFILE && report->counted.nr_rows > 0)
		report_print_counted(report, table);
	if (kinds & REPORT_PERFORMANCE)
		report_print_performance(report, table);
	if (kinds & REPORT_SERVICES) {
		print_services(report, table);
		print_services_of_threads(report, table);
	}
	if (kinds & REPORT_STACKS)
		report_print_stacks(report, table);
	if (kinds & REPORT_FILEX)
		print_counters(report, table, COUNTERS_FILEX);
	if (kinds & REPORT_NETX)
		print_counters(report, table, COUNTERS_NETX);
	if (kinds & REPORT_INVERSIONS)
		report_print_inversions(report, table);
	if (kinds & REPORT_CPUS)
		report_print_cpus(report, table);
	if (kinds & REPORT_PROCESSES)
		report_print_processes(report, table);
	if (kinds & REPORT_LATENCY)
		report_print_latency(report, table);
}
