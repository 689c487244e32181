/* SPDX-License-Identifier: MIT */
/*
 * What TraceX calls Performance Statistics, counted over the steps of a profile; and Thread Stack Usage.
 */
#ifndef TXTRACE_REPORT_STATISTICS_H
#define TXTRACE_REPORT_STATISTICS_H

#include "report/events.h"

struct statistics {
	uint64_t nr_events; /* of those that count, with those that were made */
	uint64_t nr_made;
	uint64_t nr_switches, nr_preemptions, nr_time_slices;
	uint64_t nr_suspensions, nr_resumptions;
	uint64_t nr_interrupts, nr_nested;

	/* The last thread that had the CPU, for the switches; 0: none yet. */
	unsigned int running;

	/* The same for the preemptions, with the resumptions that wait for a thread to run. */
	unsigned int before;
	uint64_t nr_resumed; /* of these, how many count */
	bool is_first_counted;
	uint64_t nr_waiting;
	unsigned int last_next;
	unsigned int nesting;
};

/* What does not depend on who runs: events, suspensions and resumptions, time slices. */
void statistics_count(struct statistics *statistics, const struct step *step);

/* Everything. */
void statistics_step(struct statistics *statistics, const struct step *step);
void statistics_end(struct statistics *statistics);

/* Of a thread, by the stack pointers that its events have: how much of the stack was never used. */
void stack_step(const struct step *step);

#endif
