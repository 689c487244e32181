/* SPDX-License-Identifier: MIT */
/*
 * This module finds out which thread runs on which CPU, as far as the events of a log show it. A thread runs from its
 * event until another thread has an event on this CPU, or until the thread has an event on another CPU. The running
 * thread of a CPU is unknown in these periods: before the first event of the CPU and after its last event, while the
 * stream is stopped, where events were lost, and after the thread has left the CPU, has begun to wait in a call, or has
 * ended, also with its process.
 *
 * So the reported time of a thread can be too long: the thread may have slept without an event, or threads without
 * events may have run on its CPU.
 */
#ifndef TXTRACE_REPORT_CPUS_H
#define TXTRACE_REPORT_CPUS_H

#include "report/counts.h"
#include "report/events.h"

/*
 * All CPU numbers of a trace buffer are less than CPUS_OF_HOST.  The index of a CPU counts those of all hosts of a
 * merged log, so that the CPUs of two hosts with the same number are two.
 */
#define CPUS_OF_HOST 256
#define CPUS_MAX (214 * CPUS_OF_HOST)

static inline unsigned int cpu_index(unsigned int number)
{
	unsigned int host = number / TXTRACE_HOST_CPUS;

	return (host * CPUS_OF_HOST + number % TXTRACE_HOST_CPUS % CPUS_OF_HOST) % CPUS_MAX;
}

/* Return the number of the CPU with this index. */
static inline unsigned int cpu_number(unsigned int index)
{
	return index / CPUS_OF_HOST * TXTRACE_HOST_CPUS + index % CPUS_OF_HOST;
}

struct cpu {
	struct context *running; /* NULL if the running thread is unknown */
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
	unsigned int end; /* all CPUs have a smaller index */
	struct cpu cpu[CPUS_MAX];
};

/* All bytes of *cpus are 0. */
void cpus_init(struct cpus *cpus, const struct report_events *events, struct count_map *counts);
void cpus_event(struct cpus *cpus, const struct report_event *event);

/* The thread of this event begins to wait, or ends. It then runs on no CPU until its next event. */
void cpus_leave(struct cpus *cpus, const struct report_event *event);

/* Call this function after the last event. It ends the current run of each CPU at the last event of the CPU. */
void cpus_end(struct cpus *cpus);

/* Return the number of CPUs with events, or on which a thread ran. */
unsigned int cpus_count(const struct cpus *cpus);

#endif
