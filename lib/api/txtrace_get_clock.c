/* SPDX-License-Identifier: MIT */
/* The wall clock while a log was recorded. */
#include "api/api.h"

#include <string.h>
#include <trace_ext.h>

#include "log/archive.h"

_Static_assert(PX_CLOCK_ERRORS == sizeof((struct txtrace_clock_run){0}.error) / sizeof(struct txtrace_clock_error),
	       "each error has its place");

static void describe(const struct px_log_clocks *clocks, unsigned int number, struct txtrace_clock_run *to)
{
	const struct px_clock_run *from = &clocks->run[number];

	memset(to, 0, sizeof(*to));
	to->nr_readings = clocks->nr_readings;
	to->nr_runs = clocks->nr_runs;
	to->from_ns = from->from_ns;
	to->until_ns = from->until_ns;
	to->low_ns = from->low_ns;
	to->high_ns = from->high_ns;
	for (int i = 0; i < PX_CLOCK_ERRORS; i++)
		to->error[i] = (struct txtrace_clock_error){from->error[i].time_ns, from->error[i].error_ns};
}

PX_EXPORT int txtrace_get_clock(trace_id_t trid, unsigned int number, struct txtrace_clock_run *run)
{
	struct px_archive *archive;
	int error = 0;

	if (!run || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	if (number < px_log_clocks_nr_runs(&archive->clocks))
		describe(&archive->clocks, number, run);
	else
		error = ENOENT;
	px_handle_unlock(trid);
	return error;
}
