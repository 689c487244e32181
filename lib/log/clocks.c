/* SPDX-License-Identifier: MIT */
#include "log/clocks.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/procfs.h"
#include "log/frame.h"

#define ROUNDING_NS 200 /* a line of the timeline may be 100 ns from an anchor, and times are rounded */
#define NS_PER_US 1000
#define SLEEP_NS 1000000 /* no machine sleeps for less */

struct px_clock_reading px_log_clocks_read(uint64_t offset_ns)
{
	uint64_t before = px_clock_monotonic_ns(), wall = px_clock_realtime_ns(), after = px_clock_monotonic_ns();
	uint64_t boot = px_clock_boottime_ns(), end = px_clock_monotonic_ns();

	return (struct px_clock_reading){.time_ns = before + offset_ns,
					 .low_ns = (int64_t)(wall - after - offset_ns) - ROUNDING_NS,
					 .high_ns = (int64_t)(wall - before - offset_ns) + ROUNDING_NS,
					 .error_ns = PX_CLOCK_ERROR_UNKNOWN,
					 .least_asleep_ns = (int64_t)(boot - end),
					 .most_asleep_ns = (int64_t)(boot - after)};
}

int64_t px_log_clocks_error(void)
{
	struct timex state;
	int result;

	memset(&state, 0, sizeof(state));
	result = adjtimex(&state);
	if (result < 0 || result == TIME_ERROR || (state.status & STA_UNSYNC))
		return PX_CLOCK_ERROR_UNKNOWN;
	return (int64_t)state.maxerror * NS_PER_US;
}

/* Filters cannot be removed, and hold for all that the process does later. */
bool px_log_clocks_may_ask(void)
{
	return !px_is_confined() && !px_procfs_is_filtered();
}

/* The time of a run's readings only grows, so the last error is the newest one. */
static void add_error(struct px_clock_run *run, const struct px_clock_reading *reading)
{
	const struct px_clock_error error = {reading->time_ns, reading->error_ns};

	if (error.error_ns < 0)
		return;
	if (run->error[0].error_ns < 0)
		run->error[0] = run->error[1] = error;
	if (error.error_ns < run->error[1].error_ns)
		run->error[1] = error;
	run->error[2] = error;
}

static struct px_clock_run *begin_run(struct px_log_clocks *clocks, const struct px_clock_reading *reading)
{
	struct px_clock_run *run = &clocks->run[clocks->nr_runs];

	if (clocks->nr_runs >= PX_CLOCK_RUNS) {
		run = &clocks->run[PX_CLOCK_RUNS - 1];
		memmove(&clocks->run[1], &clocks->run[2], (PX_CLOCK_RUNS - 2) * sizeof(*run));
	}
	clocks->nr_runs += clocks->nr_runs < UINT32_MAX;
	*run = (struct px_clock_run){reading->time_ns, reading->time_ns, reading->low_ns, reading->high_ns, {{0, 0}}};
	for (int i = 0; i < PX_CLOCK_ERRORS; i++)
		run->error[i].error_ns = PX_CLOCK_ERROR_UNKNOWN;
	return run;
}

static bool has_slept(struct px_clock_sleep *sleep, const struct px_clock_reading *reading)
{
	bool has = sleep->is_known && reading->least_asleep_ns - sleep->most_ns > SLEEP_NS;

	if (!sleep->is_known || reading->most_asleep_ns < sleep->most_ns)
		sleep->most_ns = reading->most_asleep_ns;
	sleep->is_known = true;
	return has;
}

bool px_log_clocks_add(struct px_log_clocks *clocks, const struct px_clock_reading *reading,
		       struct px_clock_sleep *sleep)
{
	uint32_t nr = clocks->nr_runs < PX_CLOCK_RUNS ? clocks->nr_runs : PX_CLOCK_RUNS;
	struct px_clock_run *run = nr > 0 ? &clocks->run[nr - 1] : NULL;

	if (has_slept(sleep, reading)) {
		memset(clocks, 0, sizeof(*clocks));
		return false;
	}
	clocks->nr_readings++;
	if (!run || reading->low_ns > run->high_ns || reading->high_ns < run->low_ns)
		run = begin_run(clocks, reading);
	if (reading->low_ns > run->low_ns)
		run->low_ns = reading->low_ns;
	if (reading->high_ns < run->high_ns)
		run->high_ns = reading->high_ns;
	if (reading->time_ns > run->until_ns)
		run->until_ns = reading->time_ns;
	add_error(run, reading);
	return true;
}

static uint32_t sum_of(const struct px_log_clocks *clocks)
{
	/* All members are words, so the sum is the same after their byte order was changed. */
	uint32_t sum = px_frame_sum(clocks->nr_runs, clocks, offsetof(struct px_log_clocks, nr_runs), false);

	return sum ? sum : 1;
}

uint32_t px_log_clocks_nr_runs(const struct px_log_clocks *clocks)
{
	if (clocks->sum == 0 || clocks->sum != sum_of(clocks))
		return 0;
	return clocks->nr_runs < PX_CLOCK_RUNS ? clocks->nr_runs : PX_CLOCK_RUNS;
}

void px_log_clocks_seal(struct px_log_clocks *clocks)
{
	clocks->sum = clocks->nr_runs > 0 ? sum_of(clocks) : 0;
}
