/* SPDX-License-Identifier: MIT */
#include "cmd/merge_clocks.h"

#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/units.h"
#include "trace/origins.h"

#define NAMED_MAX 3 /* of the files of which nothing is known, print so many */

struct merge_clock merge_clock_of(struct source *source)
{
	struct merge_clock clock = {.clock = wall_clock_of(source)};
	size_t nr = 0;
	const struct txtrace_origin *origin = source->file.foreign ? NULL : source_origins(source, &nr);

	if (nr > 0) {
		snprintf(clock.host, sizeof(clock.host), "%s %s", origin->boot_id, origin->host_name);
		clock.is_merged = origin->merged;
	}
	return clock;
}

bool merge_clocks_differ(const struct merge_clock *clocks, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++)
		if (strcmp(clocks[i].host, clocks[0].host) != 0)
			return true;
	return false;
}

void merge_clocks_share(const struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files)
{
	for (unsigned int i = 0; i < nr_files; i++)
		for (files[i].clock = 0; files[i].clock < i; files[i].clock++)
			if (clocks[i].host[0] != '\0' && strcmp(clocks[i].host, clocks[files[i].clock].host) == 0)
				break;
}

/* A clock that was set goes by two times in one log. */
static void report_setting(const struct messages_file *file, const struct wall_clock *clock)
{
	char set[32], moved[32];

	units_duration(set, sizeof(set), clock->set_ns < 0 ? -clock->set_ns : clock->set_ns);
	units_duration(moved, sizeof(moved), clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns);
	message("%s: its wall clock was set %s by %s during the recording%s; its times become those of the newest "
		"setting: %s %s",
		file->path, clock->set_ns < 0 ? "back" : "forward", set,
		clock->nr_settings > 1 ? ", and before" : "", moved, clock->offset_ns < 0 ? "earlier" : "later");
}

static bool is_unknown(const struct merge_clock *clock, const struct messages_file *file)
{
	return !clock->is_set_by_user && file->uncertainty_ns < 0;
}

/* Name the first files of which nothing is known. */
static void report_unknown(const struct merge_clock *clocks, const struct messages_file *files, unsigned int nr_files,
			   unsigned int nr_unknown)
{
	char names[300] = "", more[40] = "";
	unsigned int nr = 0;

	for (unsigned int i = 0; i < nr_files && nr < NAMED_MAX; i++) {
		size_t length = strlen(names);

		if (!is_unknown(&clocks[i], &files[i]))
			continue;
		snprintf(names + length, sizeof(names) - length, "%s%s", nr > 0 ? ", " : "", files[i].path);
		nr++;
	}
	if (nr_unknown > nr)
		snprintf(more, sizeof(more), " and %u more files", nr_unknown - nr);
	message("%s%s: how far the times are from those of other hosts is not known, because %s not tell how far the "
		"clock was from UTC; see --message and --offset",
		names, more, nr_unknown > 1 ? "these files do" : "the file does");
}

/* Say how far the clocks of several hosts are from each other at most.  Those that the user has set are as told. */
static void report_uncertainty(const struct merge_clock *clocks, const struct messages_file *files,
			       unsigned int nr_files)
{
	unsigned int nr_unknown = 0, nr_known = 0, worst = nr_files;
	char error[32];

	for (unsigned int i = 0; i < nr_files; i++) {
		nr_unknown += is_unknown(&clocks[i], &files[i]);
		if (files[i].uncertainty_ns < 0)
			continue;
		nr_known++;
		if (worst == nr_files || files[i].uncertainty_ns > files[worst].uncertainty_ns)
			worst = i;
	}
	if (nr_unknown > 0)
		report_unknown(clocks, files, nr_files, nr_unknown);
	if (worst == nr_files)
		return;
	units_duration(error, sizeof(error), files[worst].uncertainty_ns);
	message("the times of %s are at most %s from UTC, as the kernels told%s",
		nr_known == nr_files ? "all files" :
		nr_unknown > 0	     ? "the other files" :
				       "the files without --offset",
		error, nr_known > 1 ? ": so two hosts differ by twice that at most" : "");
}

/* Return a log of this host in which its clock was set, or NULL. */
static const struct wall_clock *find_set(const struct merge_clock *clocks, unsigned int nr,
					 const struct merge_clock *log)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!clocks[i].is_set_by_user && clocks[i].clock.nr_settings > 0 && clocks[i].clock.nr_runs >= 2 &&
		    log->host[0] != '\0' && strcmp(clocks[i].host, log->host) == 0)
			return &clocks[i].clock;
	return NULL;
}

/*
 * The times of a log that ended before the setting are on the scale that the other log has at its beginning, and need
 * the same correction.  Those of a log that began after it are right.  After a clock was set back, times come twice,
 * and may be either.
 */
static void follow_setting(struct merge_clock *log, const struct wall_clock *set)
{
	const struct txtrace_clock_run *run = log->clock.run, *last = &set->run[set->nr_runs - 1];
	bool has_all = set->nr_settings == set->nr_runs - 1;
	bool is_before = run->until_ns <= (has_all ? set->run[1].from_ns : set->run[0].until_ns);
	bool is_after = (double)run->from_ns >= (double)last[-1].until_ns + (double)set->offset_ns;

	log->is_doubtful = is_before == is_after;
	if (log->is_doubtful)
		log->clock.uncertainty_ns = -1;
	if (!is_before || log->is_doubtful)
		return;
	log->clock.offset_ns = set->offset_ns;
	log->clock.drift = set->drift;
	log->clock.origin_ns = set->origin_ns;
	log->clock.uncertainty_ns = run->from_ns >= set->run[0].from_ns ? set->uncertainty_ns : -1;
}

void merge_clocks_tell(struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files)
{
	for (unsigned int i = 0; i < nr_files; i++) {
		const struct wall_clock *clock = &clocks[i].clock, *set = find_set(clocks, nr_files, &clocks[i]);

		files[i].told_uncertainty_ns = -1;
		if (clocks[i].is_set_by_user || clock->nr_runs == 0)
			continue;
		if (set && clock->nr_settings == 0)
			follow_setting(&clocks[i], set);
		files[i].told = (struct clock_correction){
			clock->offset_ns, clock->drift, clock->origin_ns + files[i].shift_ns};
		files[i].told_uncertainty_ns = clock->uncertainty_ns;
	}
}

void merge_clocks_place(const struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files)
{
	for (unsigned int i = 0; i < nr_files; i++) {
		if (clocks[i].is_set_by_user || clocks[i].clock.nr_runs == 0)
			continue;
		files[i].correction = files[i].told;
		files[i].uncertainty_ns = files[i].told_uncertainty_ns;
	}
}

void merge_clocks_report(const struct merge_clock *clocks, const struct messages_file *files, unsigned int nr_files)
{
	for (unsigned int i = 0; i < nr_files; i++)
		if (!clocks[i].is_set_by_user && clocks[i].clock.nr_settings > 0)
			report_setting(&files[i], &clocks[i].clock);
	for (unsigned int i = 0; i < nr_files; i++)
		if (clocks[i].is_doubtful)
			message("%s: its wall clock was set before or after it was recorded, as another log of its "
				"host shows; its times are taken as they are",
				files[i].path);
	if (merge_clocks_differ(clocks, nr_files))
		report_uncertainty(clocks, files, nr_files);
}
