/* SPDX-License-Identifier: MIT */
/*
 * This module finds out which thread runs on which CPU, as far as the events of a log show it. A thread runs from its
 * event until the next event on that CPU, or until the thread has an event on another CPU. The running thread is
 * unknown before the first event of a CPU, after its last event, while the stream is stopped, after the thread has left
 * the CPU or begun to wait in a call, and where events were lost.
 *
 * So the reported time of a thread is too long if the thread slept without an event, or if threads without events ran
 * on its CPU.
 */
#ifndef TXTRACE_REPORT_CPUS_H
#define TXTRACE_REPORT_CPUS_H

#include "report/counts.h"
#include "report/events.h"

#define CPUS_MAX 256 /* a trace buffer has no larger CPU number */

struct cpu {
	struct context *running; /* NULL: unknown */
	struct context *last;
	int64_t since, last_at; /* start of the run, and time of the last event */
	bool passes;
	uint64_t nr_events, nr_switches;
	int64_t time;
};

struct cpus {
	const struct report_events *events;
	struct count_map *counts; /* time of each context on each CPU */
	uint64_t nr_switches, nr_migrations;
	struct cpu cpu[CPUS_MAX];
};

void cpus_init(struct cpus *cpus, const struct report_events *events, struct count_map *counts);
void cpus_event(struct cpus *cpus, const struct report_event *event);

/* The thread of this event begins to wait: it runs on no CPU until its next event. */
void cpus_leave(struct cpus *cpus, const struct report_event *event);

/* Call this after the last event: end the current run of each CPU at the last event of the CPU. */
void cpus_end(struct cpus *cpus);

/* Return the number of CPUs with events. */
unsigned int cpus_count(const struct cpus *cpus);

#endif
