/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a log did, by its scheduling records: the times of each thread and of each CPU in the range, and
 * for how long the threads were ready before they ran.  The filter has no effect on these times.
 */
#ifndef TXTRACE_REPORT_STATES_H
#define TXTRACE_REPORT_STATES_H

#include "base/durations.h"
#include "report/events.h"
#include "report/run_queue.h"

struct states_row {
	pid_t pid, tid;
	unsigned int context; /* 0: the thread has no handle */
	char name[16];
	struct state_times times; /* in the range */
	struct durations woken, preempted; /* the times from a wake-up, and from a preemption, until the thread ran */
	uint64_t nr_blocked;	  /* number of times blocked, also those without a known wake-up */
	/* In the range: how often the thread got a CPU, and how often another one than the one before. */
	uint64_t nr_switches, nr_migrations;
	uint64_t nr_seen, nr_seen_migrations; /* of the thread, up to the newest time that it ran */
};

struct states {
	const struct report_events *events;
	struct states_row *row;
	size_t nr_rows;
	struct run_queue run_queue;
	struct map time_of_cpu;	     /* key: CPU; value: ns */
	struct map time_of_context;  /* key: context and CPU; value: ns */
	struct map switches_of_cpu, switches_of_context, migrations_of_context;
};

/* Callback for the listener of waits.h.  arg is the struct states. */
void states_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter, enum thread_state state,
		  int64_t from_ns, int64_t until_ns);

/* Call this after the last event, with the model that called states_spent(). */
void states_end(struct states *states, const struct thread_states *model);
void states_free(struct states *states);

/* Return the time of a thread on a CPU. */
int64_t states_time_on(const struct states *states, unsigned int context, unsigned int cpu);

/* Do the same for the thread of a row that has no handle. */
int64_t states_row_time_on(const struct states *states, size_t row, unsigned int cpu);

#endif
