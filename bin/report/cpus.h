/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs on which CPU, as far as the events of a log tell: from an event of a thread until the next event on
 * that CPU, or until the thread has an event on another one; a thread runs on one CPU at a time.  Nobody is known to run
 * on a CPU before its first event, behind its last one, while the stream is stopped, after its thread has left or begun
 * to wait in a call, and where events were lost.
 *
 * So what a thread gets is too much rather than too little where it slept, or others without events ran.
 */
#ifndef TXTRACE_REPORT_CPUS_H
#define TXTRACE_REPORT_CPUS_H

#include "report/counts.h"
#include "report/events.h"

#define CPUS_MAX 256 /* as many as a trace buffer can tell apart */

struct cpu {
	struct context *running; /* NULL: not known */
	struct context *last;
	int64_t since, last_at; /* the stretch began; the last event */
	bool passes;
	uint64_t nr_events, nr_switches;
	int64_t time;
};

struct cpus {
	const struct steps *steps;
	struct count_map *counts; /* of actors and CPUs */
	uint64_t nr_switches, nr_migrations;
	struct cpu cpu[CPUS_MAX];
};

void cpus_init(struct cpus *cpus, const struct steps *steps, struct count_map *counts);
void cpus_step(struct cpus *cpus, const struct step *step);

/* The thread of this step begins to wait: it runs nowhere until its next event. */
void cpus_leave(struct cpus *cpus, const struct step *step);

/* Stretches that lasted until the last event of their CPU. */
void cpus_end(struct cpus *cpus);

/* How many had events. */
unsigned int cpus_count(const struct cpus *cpus);

#endif
