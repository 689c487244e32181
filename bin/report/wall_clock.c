/* SPDX-License-Identifier: MIT */
#include "report/wall_clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/clock_fit.h"
#include "trace/source.h"

#define ERRORS (sizeof(((struct txtrace_clock_run *)NULL)->error) / sizeof(struct txtrace_clock_error))
#define BOUNDS_MAX (WALL_CLOCK_RUNS * ERRORS)

static int64_t middle(const struct txtrace_clock_run *run)
{
	return run->low_ns + (run->high_ns - run->low_ns) / 2;
}

/*
 * The file is hostile input, so its times and errors may be any.  A time of less than 292 years fits a long long, and a
 * double takes their differences.
 */
static bool is_sound(const struct txtrace_clock_run *run)
{
	const long long most = INT64_MAX / 8;

	return run->low_ns <= run->high_ns && run->low_ns > -most && run->high_ns < most &&
	       run->from_ns <= run->until_ns && run->until_ns < (unsigned long long)INT64_MAX;
}

static void load(const struct source *source, struct wall_clock *clock)
{
	struct txtrace_clock_run *run = clock->run;

	while (clock->nr_runs < WALL_CLOCK_RUNS && txtrace_get_clock(source->trace, clock->nr_runs, run) == 0 &&
	       is_sound(run)) {
		if (run->high_ns - run->low_ns > clock->width_ns)
			clock->width_ns = run->high_ns - run->low_ns;
		clock->nr_runs++;
		run++;
	}
	if (clock->nr_runs == 0)
		return;
	clock->nr_settings = clock->run[0].nr_runs > 0 ? clock->run[0].nr_runs - 1 : 0;
	if (clock->nr_runs >= 2)
		clock->set_ns = middle(run - 1) - middle(run - 2);
}

/* Before the clock was set for the last time, the kernel may have taken a wrong time for a right one. */
static size_t find_bounds(const struct wall_clock *clock, struct clock_bound *lower, struct clock_bound *upper)
{
	const struct txtrace_clock_run *run = &clock->run[clock->nr_runs - 1];
	size_t nr = 0;

	for (size_t i = 0; i < ERRORS; i++) {
		const struct txtrace_clock_error *error = &run->error[i];
		double at = (double)((long long)error->time_ns - clock->origin_ns);

		if (error->error_ns < 0 || error->error_ns > INT64_MAX / 8 ||
		    error->time_ns > (unsigned long long)INT64_MAX)
			continue;
		lower[nr] = (struct clock_bound){at, (double)run->low_ns - (double)error->error_ns};
		upper[nr++] = (struct clock_bound){at, (double)run->high_ns + (double)error->error_ns};
	}
	return nr;
}

/* Events that a recovery added are later than all readings. */
static bool covers_all(const struct source *source)
{
	return source->file.complete && !source->file.recovered && !source->file.damaged;
}

static void fit(const struct source *source, struct wall_clock *clock)
{
	const struct txtrace_clock_run *last = &clock->run[clock->nr_runs - 1];
	struct clock_bound lower[BOUNDS_MAX], upper[BOUNDS_MAX];
	size_t nr = find_bounds(clock, lower, upper);
	double until = (double)((long long)last->until_ns - clock->origin_ns);
	struct clock_fit fit;

	if (nr == 0)
		return;
	fit = clock_fit(lower, nr, upper, nr, 0, until);
	if (!fit.is_possible || !covers_all(source))
		return;
	/* A clock that nobody has set keeps its times. */
	clock->uncertainty_ns = (int64_t)ceil(fit.uncertainty) + 2;
	if (clock->nr_settings > 0) {
		clock->offset_ns = (int64_t)floor(fit.offset);
		clock->drift = fit.drift;
	} else {
		clock->uncertainty_ns += (int64_t)ceil(fmax(fabs(fit.offset), fabs(fit.offset + fit.drift * until)));
	}
}

struct wall_clock wall_clock_of(const struct source *source)
{
	struct wall_clock clock = {.uncertainty_ns = -1, .origin_ns = source->first_ns};

	load(source, &clock);
	if (clock.nr_runs == 0)
		return clock;
	if (clock.run[0].from_ns < (unsigned long long)clock.origin_ns)
		clock.origin_ns = (int64_t)clock.run[0].from_ns;
	if (clock.nr_settings > 0)
		clock.offset_ns = middle(&clock.run[clock.nr_runs - 1]);
	fit(source, &clock);
	return clock;
}

void wall_clock_describe(char *text, size_t size, const struct wall_clock *clock)
{
	char width[32], set[32], error[32];

	units_duration(width, sizeof(width), clock->width_ns / 2);
	units_duration(set, sizeof(set), clock->set_ns < 0 ? -clock->set_ns : clock->set_ns);
	units_duration(error, sizeof(error), clock->uncertainty_ns);
	snprintf(text, size, "read %llu times to within %s, %s%s%s, %s%s%s", clock->run[0].nr_readings, width,
		 clock->nr_settings == 0 ? "not set" :
		 clock->nr_settings == 1 ? "set " :
					   "set several times, the last time ",
		 clock->nr_settings == 0 ? "" :
		 clock->set_ns < 0	 ? "back by " :
					   "forward by ",
		 clock->nr_settings == 0 ? "" : set,
		 clock->uncertainty_ns < 0 ? "how far from UTC is not known" : "at most ",
		 clock->uncertainty_ns < 0 ? "" : error, clock->uncertainty_ns < 0 ? "" : " from UTC");
}
