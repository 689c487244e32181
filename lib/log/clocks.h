/* SPDX-License-Identifier: MIT */
/*
 * What a log knows of the clock of its machine.  The times of its events are CLOCK_MONOTONIC plus a constant, the
 * distance of CLOCK_REALTIME (the wall clock) when the stream was created.  So they do not jump when the wall clock is
 * set.  To place the events of several machines, a reader needs the wall clock during the whole recording.  The writer
 * reads both clocks when it creates the log, with each commit and at the end.
 *
 * The distance of the two clocks changes only when the wall clock is set.  So the readings between two settings are one
 * run: the distance was in the interval of each of its readings.  A log keeps the first run and the last ones.
 *
 * While the machine sleeps, CLOCK_MONOTONIC stands still, and the wall clock does not.  That looks like a setting, but
 * the times before it are right.  CLOCK_BOOTTIME tells of it.  A log of a machine that slept has no readings.
 *
 * The kernel says how far the wall clock may be from UTC at most (adjtimex(), maxerror), if a time server synchronizes
 * it.  The writer asks it at most once a second.  This is a system call that a filter of the program may forbid, so a
 * process that traces itself asks only when it creates the log, and not if it has a filter.
 */
#ifndef PX_LOG_CLOCKS_H
#define PX_LOG_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define PX_CLOCK_RUNS 3	 /* that a log keeps */
#define PX_CLOCK_ERRORS 3 /* the first of a run, the smallest, and the last */
#define PX_CLOCK_ERROR_UNKNOWN INT64_C(-1)

/* The wall clock was at most this far from UTC.  All times are on the scale of the events of the log. */
struct px_clock_error {
	uint64_t time_ns;
	int64_t error_ns; /* PX_CLOCK_ERROR_UNKNOWN: there is none */
};

struct px_clock_run {
	uint64_t from_ns, until_ns; /* times of the first and the last reading */
	int64_t low_ns, high_ns;    /* the wall clock minus the time of the log was between these */
	struct px_clock_error error[PX_CLOCK_ERRORS];
};

/* Part of the commit (format.h). */
struct px_log_clocks {
	uint64_t nr_readings;
	struct px_clock_run run[PX_CLOCK_RUNS];
	uint32_t nr_runs;  /* runs there were; with more than PX_CLOCK_RUNS, those after the first are missing */
	uint32_t sum;	   /* px_log_clocks_seal(); another value: the log has no readings */
};

/* A reading of the wall clock: its distance from the scale of the log was between low_ns and high_ns. */
struct px_clock_reading {
	uint64_t time_ns;
	int64_t low_ns, high_ns;
	int64_t error_ns; /* PX_CLOCK_ERROR_UNKNOWN: it was not asked, or is not known */
	int64_t least_asleep_ns, most_asleep_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC was between these */
};

/* What the readings of this process have told of the sleep of the machine. */
struct px_clock_sleep {
	bool is_known;
	int64_t most_ns;
};

/* Read the clocks.  offset_ns: what the log adds to CLOCK_MONOTONIC. */
struct px_clock_reading px_log_clocks_read(uint64_t offset_ns);

/* Return how far the wall clock may be from UTC, or PX_CLOCK_ERROR_UNKNOWN. */
int64_t px_log_clocks_error(void);

/* Return true if no filter forbids this process system calls. */
bool px_log_clocks_may_ask(void);

/* Return false if the machine has slept since the reading before: then there are no readings any more. */
bool px_log_clocks_add(struct px_log_clocks *clocks, const struct px_clock_reading *reading,
		       struct px_clock_sleep *sleep);

/* Return how many runs are there, or 0 if the sum is another one. */
uint32_t px_log_clocks_nr_runs(const struct px_log_clocks *clocks);

/* Set the sum.  Call this after all other members are set. */
void px_log_clocks_seal(struct px_log_clocks *clocks);

#endif
