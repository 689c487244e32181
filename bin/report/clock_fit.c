/* SPDX-License-Identifier: MIT */
#include "report/clock_fit.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDS 100 /* of a search: after these, the interval is as small as a double can tell */

/* The bounds of one kind.  Lower ones have the other sign here, so all lines are below them. */
struct bounds {
	const struct clock_bound *bound;
	size_t nr;
};

static int by_time(const void *a, const void *b)
{
	const struct clock_bound *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return (left->value > right->value) - (left->value < right->value);
}

/* Return true if b is above the line from a to c, so that no line below a and c can touch it. */
static bool is_above(const struct clock_bound *a, const struct clock_bound *b, const struct clock_bound *c)
{
	return (b->value - a->value) * (c->at - a->at) >= (c->value - a->value) * (b->at - a->at);
}

/* Leave only the lower convex hull: a line that is below it is below all bounds.  Return the number of bounds. */
static size_t make_hull(struct clock_bound *bound, size_t nr)
{
	size_t used = 0;

	if (nr > 0)
		qsort(bound, nr, sizeof(*bound), by_time);
	for (size_t i = 0; i < nr; i++) {
		if (used > 0 && bound[used - 1].at == bound[i].at)
			continue; /* the first one is the lowest */
		while (used >= 2 && is_above(&bound[used - 2], &bound[used - 1], &bound[i]))
			used--;
		bound[used++] = bound[i];
	}
	return used;
}

/* Return the largest offset with which a line of this drift is below the bounds. */
static double offset_below(const struct bounds *bounds, double drift)
{
	double least = INFINITY;

	for (size_t i = 0; i < bounds->nr; i++)
		least = fmin(least, bounds->bound[i].value - drift * bounds->bound[i].at);
	return least;
}

struct both {
	struct bounds upper, lower; /* `lower` has the negative values */
	double at; /* for highest() and lowest() */
};

/* Return the distance between the lines of this drift that touch the upper and the lower bounds. */
static double width(const struct both *both, double drift)
{
	return offset_below(&both->upper, drift) + offset_below(&both->lower, -drift);
}

/* The highest and the negative lowest correction at the time both->at. */
static double highest(const struct both *both, double drift)
{
	return offset_below(&both->upper, drift) + drift * both->at;
}

static double lowest(const struct both *both, double drift)
{
	return offset_below(&both->lower, -drift) - drift * both->at;
}

/* Return where a concave function is largest. */
static double find_top(const struct both *both, double (*function)(const struct both *, double), double from,
		       double until)
{
	for (int i = 0; i < ROUNDS; i++) {
		double left = from + (until - from) / 3, right = until - (until - from) / 3;

		if (function(both, left) < function(both, right))
			from = left;
		else
			until = right;
	}
	return (from + until) / 2;
}

/* Return the drift between `good`, where a line is possible, and `end`, up to which lines are possible. */
static double find_end(const struct both *both, double good, double end)
{
	if (width(both, end) >= 0)
		return end;
	for (int i = 0; i < ROUNDS; i++) {
		double middle = (good + end) / 2;

		if (width(both, middle) >= 0)
			good = middle;
		else
			end = middle;
	}
	return good;
}

/* The drifts from `first` to `last` are possible. */
static double uncertainty_at(struct both *both, const struct clock_fit *fit, double first, double last, double at)
{
	double here = fit->offset + fit->drift * at;

	both->at = at;
	return fmax(highest(both, find_top(both, highest, first, last)) - here,
		    lowest(both, find_top(both, lowest, first, last)) + here);
}

static void find_uncertainty(struct both *both, struct clock_fit *fit, double from, double until)
{
	double first = find_end(both, fit->drift, -CLOCK_FIT_DRIFT), last = find_end(both, fit->drift, CLOCK_FIT_DRIFT);

	/* The distance to the other lines is largest at one of the ends. */
	fit->uncertainty = fmax(uncertainty_at(both, fit, first, last, from),
				uncertainty_at(both, fit, first, last, until));
	fit->drift_uncertainty = fmax(last - fit->drift, fit->drift - first);
}

struct clock_fit clock_fit(struct clock_bound *lower, size_t nr_lower, struct clock_bound *upper, size_t nr_upper,
			   double from, double until)
{
	struct clock_fit fit = {.has_lower = nr_lower > 0, .has_upper = nr_upper > 0, .is_possible = true};
	struct both both;

	for (size_t i = 0; i < nr_lower; i++)
		lower[i].value = -lower[i].value;
	both.upper = (struct bounds){upper, make_hull(upper, nr_upper)};
	both.lower = (struct bounds){lower, make_hull(lower, nr_lower)};
	if (!fit.has_lower || !fit.has_upper) {
		fit.offset = fit.has_upper ? offset_below(&both.upper, 0) :
			     fit.has_lower ? -offset_below(&both.lower, 0) :
					     0;
		return fit;
	}
	fit.drift = find_top(&both, width, -CLOCK_FIT_DRIFT, CLOCK_FIT_DRIFT);
	fit.offset = (offset_below(&both.upper, fit.drift) - offset_below(&both.lower, -fit.drift)) / 2;
	fit.is_possible = width(&both, fit.drift) >= 0;
	if (fit.is_possible)
		find_uncertainty(&both, &fit, from, until);
	return fit;
}
