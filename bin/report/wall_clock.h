/* SPDX-License-Identifier: MIT */
/*
 * What a log tells of the wall clock of its machine (txtrace_get_clock(3)), and what follows for its times.
 *
 * The kernel says how far the wall clock is from UTC at most, if a time server synchronizes it.  So each reading with
 * such an error is an upper and a lower bound of what is to be added to the times of the log to get UTC, and the fit of
 * clock_fit.h gives the offset, the drift and the uncertainty.  Without such an error, nothing tells how far the wall
 * clock was from those of other machines.
 *
 * If the wall clock was set during the recording, the times of the log follow the clock as it was before, and the
 * newest setting is taken for the right one.
 */
#ifndef TXTRACE_REPORT_WALL_CLOCK_H
#define TXTRACE_REPORT_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_ext.h>

#include "report/messages.h"

#define WALL_CLOCK_RUNS 3 /* that a log keeps */

struct wall_clock {
	struct txtrace_clock_run run[WALL_CLOCK_RUNS];
	unsigned int nr_runs;	  /* in `run`; 0: the log has no readings */
	unsigned int nr_settings; /* how often the clock was set during the recording */
	int64_t set_ns;		  /* what was added to it by the newest setting; valid if nr_settings > 0 */
	int64_t width_ns;	  /* the readings tell the distance of the clocks to half of this */
	/* The correction of the times.  uncertainty_ns: from UTC; -1: not known. */
	int64_t offset_ns;
	double drift;
	int64_t origin_ns, uncertainty_ns;
};

struct wall_clock wall_clock_of(const struct source *source);

/* Write a sentence without a full stop for people: how often the clock was read, set, and how far it was from UTC. */
void wall_clock_describe(char *text, size_t size, const struct wall_clock *clock);

#endif
