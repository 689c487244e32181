/* SPDX-License-Identifier: MIT */
#include "report/cpus.h"

void cpus_init(struct cpus *cpus, const struct steps *steps, struct count_map *counts)
{
	*cpus = (struct cpus){.steps = steps, .counts = counts};
}

/* End the run of the thread on CPU i, and add its time. */
static void end_stretch(struct cpus *cpus, unsigned int i, int64_t at)
{
	struct cpu *cpu = &cpus->cpu[i];
	int64_t time;

	if (!cpu->running)
		return;
	time = cpu->passes ? report_events_clip(cpus->steps, cpu->since, at) : 0;
	if (time > 0) {
		cpu->time += time;
		counts_get(cpus->counts, cpu->running, i)->time += time;
	}
	cpu->running->cpu = -1;
	cpu->running = NULL;
}

static void begin_stretch(struct cpus *cpus, unsigned int i, const struct step *step)
{
	struct cpu *cpu = &cpus->cpu[i];

	if (cpu->last && cpu->last != step->ctx && step->counts) {
		cpu->nr_switches++;
		cpus->nr_switches++;
		step->ctx->nr_switches++;
	}
	cpu->running = cpu->last = step->ctx;
	cpu->since = step->at;
	cpu->passes = step->passes;
	step->ctx->cpu = (int)i;
}

static void note_migration(struct cpus *cpus, unsigned int i, const struct step *step)
{
	struct context *ctx = step->ctx;

	if (ctx->last_cpu >= 0 && ctx->last_cpu != (int)i && step->counts) {
		ctx->nr_migrations++;
		cpus->nr_migrations++;
	}
	ctx->last_cpu = (int)i;
}

static void change(struct cpus *cpus, unsigned int i, const struct step *step)
{
	end_stretch(cpus, i, step->at);
	if (step->ctx->is_thread) {
		if (step->ctx->cpu >= 0)
			end_stretch(cpus, (unsigned int)step->ctx->cpu, step->at);
		note_migration(cpus, i, step);
	}
	begin_stretch(cpus, i, step);
}

/* The stream stopped or lost events, so the running thread of each CPU is unknown from now on. */
static void end_all(struct cpus *cpus, int64_t at)
{
	for (unsigned int i = 0; i < CPUS_MAX; i++) {
		/* OVERFLOW may have an earlier time than the event before it */
		int64_t last_at = cpus->cpu[i].last_at;

		end_stretch(cpus, i, at > last_at ? at : last_at);
	}
}

void cpus_step(struct cpus *cpus, const struct step *step)
{
	unsigned int i = step->cpu % CPUS_MAX;

	/* some events are synthesized by the reader: they have no thread and no CPU */
	if (step->context != CONTEXT_IDLE) {
		cpus->cpu[i].nr_events += step->counts;
		if (cpus->cpu[i].running != step->ctx || cpus->cpu[i].passes != step->passes)
			change(cpus, i, step);
		cpus->cpu[i].last_at = step->at;
	}
	if (step->type == POSIX_TRACE_STOP || step->type == POSIX_TRACE_OVERFLOW)
		end_all(cpus, step->at);
}

void cpus_leave(struct cpus *cpus, const struct step *step)
{
	if (step->ctx->cpu >= 0)
		end_stretch(cpus, (unsigned int)step->ctx->cpu, step->at);
}

void cpus_end(struct cpus *cpus)
{
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		end_stretch(cpus, i, cpus->cpu[i].last_at);
}

unsigned int cpus_count(const struct cpus *cpus)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < CPUS_MAX; i++)
		nr += cpus->cpu[i].nr_events > 0;
	return nr;
}
