/* SPDX-License-Identifier: MIT */
/*
 * How far a clock is from another one, from bounds at known times.
 *
 * A message arrives after it was sent.  So each message gives a bound of the correction: the time to add to the
 * clock, so that it agrees with the reference.  Messages in one direction give upper bounds, those in the other
 * direction lower ones.  The correction changes evenly with time, at most CLOCK_FIT_DRIFT, so it is a line above
 * all lower bounds and below all upper ones.  There are many such lines.  The fit is the one with the same,
 * largest distance to both, and says how far the other ones are from it.
 */
#ifndef TXTRACE_REPORT_CLOCK_FIT_H
#define TXTRACE_REPORT_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define CLOCK_FIT_DRIFT 1e-3 /* a clock that gains or loses more in a second is broken */

/* All times are in nanoseconds from an origin near the events, so that a double is exact enough. */
struct clock_bound {
	double at, value;
};

struct clock_fit {
	bool has_lower, has_upper; /* whether there are bounds of both kinds */
	bool is_possible; /* false: no line is between the bounds; the fit is then the one that violates them least */
	double offset, drift; /* the correction at time t is offset + drift * t */
	/* Valid with both kinds of bounds: the true correction and drift are not farther away. */
	double uncertainty, drift_uncertainty;
};

/*
 * Fit the bounds.  The call sorts them, and leaves only those that matter.  With bounds of one kind, the line has no
 * drift and touches them.  The uncertainty holds for the times from `from` to `until`.
 */
struct clock_fit clock_fit(struct clock_bound *lower, size_t nr_lower, struct clock_bound *upper, size_t nr_upper,
			   double from, double until);

#endif
