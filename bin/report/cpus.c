/* SPDX-License-Identifier: MIT */
#include "report/cpus.h"

#include "trace/origins.h"

#include "base/units.h"

void cpus_init(struct cpus *cpus, const struct report_events *events, struct count_map *counts)
{
	cpus->events = events;
	cpus->counts = counts;
	cpus->end = CPUS_OF_HOST * source_nr_hosts(events->source);
	cpus->end = cpus->end < CPUS_MAX ? cpus->end : CPUS_MAX;
}

/* End the run of the thread on CPU i, and add its time. */
static void end_stretch(struct cpus *cpus, unsigned int i, int64_t at)
{
	struct cpu *cpu = &cpus->cpu[i];
	int64_t time;

	if (!cpu->running)
		return;
	time = cpu->passes ? report_events_clip(cpus->events, cpu->since, at) : 0;
	if (time > 0) {
		units_add(&cpu->time, time);
		units_add(&counts_get(cpus->counts, cpu->running, i)->time, time);
	}
	cpu->running->cpu = -1;
	cpu->running = NULL;
}

static void begin_stretch(struct cpus *cpus, unsigned int i, const struct report_event *event)
{
	struct cpu *cpu = &cpus->cpu[i];

	if (cpu->last && cpu->last != event->ctx && event->counts) {
		cpu->nr_switches++;
		cpus->nr_switches++;
		event->ctx->nr_switches++;
	}
	cpu->running = cpu->last = event->ctx;
	cpu->since = event->at;
	cpu->passes = event->passes;
	event->ctx->cpu = (int)i;
}

static void note_migration(struct cpus *cpus, unsigned int i, const struct report_event *event)
{
	struct context *ctx = event->ctx;

	if (ctx->last_cpu >= 0 && ctx->last_cpu != (int)i && event->counts) {
		ctx->nr_migrations++;
		cpus->nr_migrations++;
	}
	ctx->last_cpu = (int)i;
}

static void change(struct cpus *cpus, unsigned int i, const struct report_event *event)
{
	end_stretch(cpus, i, event->at);
	if (event->ctx->is_thread) {
		if (event->ctx->cpu >= 0)
			end_stretch(cpus, (unsigned int)event->ctx->cpu, event->at);
		note_migration(cpus, i, event);
	}
	begin_stretch(cpus, i, event);
}

/* The stream stopped or lost events, so the running thread of each CPU of the host is unknown from now on. */
static void end_all(struct cpus *cpus, unsigned int host, int64_t at)
{
	for (unsigned int i = host * CPUS_OF_HOST; i < (host + 1) * CPUS_OF_HOST && i < cpus->end; i++) {
		/* an OVERFLOW may have an earlier time than the event before it */
		int64_t last_at = cpus->cpu[i].last_at;

		end_stretch(cpus, i, at > last_at ? at : last_at);
	}
}

/*
 * Return true if the record begins a run.  A thread that waits runs again when its call ends, as in the files for
 * TraceX.
 */
static bool take_sched(struct cpus *cpus, unsigned int i, const struct report_event *event)
{
	if ((event->sched == SCHED_OUT && event->ctx->cpu == (int)i) || event->sched == SCHED_GAP_BEGINS)
		end_stretch(cpus, i, event->at);
	return event->sched == SCHED_IN && event->context != CONTEXT_IDLE && !event->ctx->waits;
}

void cpus_event(struct cpus *cpus, const struct report_event *event)
{
	unsigned int i = cpu_index(event->cpu);
	bool is_sched = sched_is_record(event->type);
	bool runs = !is_sched || take_sched(cpus, i, event);

	/* the reader synthesizes some events; these have no thread and no CPU */
	if (event->context != CONTEXT_IDLE) {
		cpus->cpu[i].nr_events += event->counts;
		if (runs && (cpus->cpu[i].running != event->ctx || cpus->cpu[i].passes != event->passes))
			change(cpus, i, event);
		cpus->cpu[i].last_at = event->at;
	}
	if (!is_sched)
		event->ctx->waits = false;
	if (event->type == POSIX_TRACE_STOP || event->type == POSIX_TRACE_OVERFLOW)
		end_all(cpus, event->pid > 0 ? (unsigned int)event->pid / TXTRACE_HOST_PIDS : 0, event->at);
}

void cpus_leave(struct cpus *cpus, const struct report_event *event)
{
	event->ctx->waits = true;
	if (event->ctx->cpu >= 0)
		end_stretch(cpus, (unsigned int)event->ctx->cpu, event->at);
}

void cpus_end(struct cpus *cpus)
{
	for (unsigned int i = 0; i < cpus->end; i++)
		end_stretch(cpus, i, cpus->cpu[i].last_at);
}

unsigned int cpus_count(const struct cpus *cpus)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < cpus->end; i++)
		nr += cpus->cpu[i].nr_events > 0 || cpus->cpu[i].time > 0;
	return nr;
}
