/* SPDX-License-Identifier: MIT */
/*
 * The time of a trace buffer, as TraceX computes it from 32-bit stamps.  Each pair of neighbouring events in the file
 * votes for rising or for falling stamps.  If a step has the other direction, TraceX assumes that the stamp has
 * wrapped.
 */
#ifndef TXTRACE_CHECK_CHECKTIME_H
#define TXTRACE_CHECK_CHECKTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "check/findings.h"

struct check_time {
	struct findings *findings;
	uint32_t mask;
	uint64_t nr_events, nr_up, nr_down;
	uint32_t first, last, largest;
	bool differs; /* true if not all stamps are equal */
	bool rises, is_decided;
	uint64_t nr_steps, nr_wraps;
};

/* Call this for each event, in the order of the file. `place` is the index of the event in its part, from 0. */
void check_time_vote(struct check_time *time, uint32_t stamp, uint64_t place);

/* Call this after all votes. `offset` is the offset of the first stamp. */
void check_time_decide(struct check_time *time, uint64_t offset);

/* Call this for each event, in the order of the times. */
void check_time_step(struct check_time *time, uint32_t stamp, uint64_t offset);

/* Call this after all steps. `offset` is the offset of the mask. */
void check_time_end(struct check_time *time, uint64_t offset);

#endif
