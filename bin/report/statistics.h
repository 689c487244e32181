/* SPDX-License-Identifier: MIT */
/*
 * Performance Statistics and Thread Stack Usage of TraceX, counted over the events of a profile.
 */
#ifndef TXTRACE_REPORT_STATISTICS_H
#define TXTRACE_REPORT_STATISTICS_H

#include "report/events.h"

struct statistics {
	uint64_t nr_events; /* number of counted events, including synthesized events */
	uint64_t nr_made;
	uint64_t nr_switches, nr_preemptions, nr_time_slices;
	uint64_t nr_suspensions, nr_resumptions;
	uint64_t nr_interrupts, nr_nested;

	/* To count switches: the last thread that ran, or 0 if no thread ran yet. */
	unsigned int running;

	/*
	 * To count preemptions: the last thread that ran (before), and the number of resumptions after which no thread
	 * has run yet (nr_waiting).
	 */
	unsigned int before;
	uint64_t nr_resumed; /* number of those resumptions that the filter and the range take */
	bool is_first_counted;
	uint64_t nr_waiting;
	unsigned int last_next;
	unsigned int nesting;
};

/* Count everything that does not depend on the running thread: events, suspensions, resumptions, time slices. */
void statistics_count(struct statistics *statistics, const struct report_event *event);

/* Count the event in all statistics. */
void statistics_event(struct statistics *statistics, const struct report_event *event);
void statistics_end(struct statistics *statistics);

/* Find how much of the stack a thread never used, from the stack pointers in its events. */
void stack_event(const struct report_event *event);

#endif
