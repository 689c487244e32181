/* SPDX-License-Identifier: MIT */
/*
 * The counts of a trace for each event type and each thread. Names identify types and threads, so that two traces can
 * be compared.
 */
#ifndef TXTRACE_DIFF_TALLY_H
#define TXTRACE_DIFF_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/map.h"
#include "trace/selection.h"
#include "trace/source.h"

struct tally {
	char *name;
	uint64_t count; /* a call that waited counts once */
	bool is_counted; /* calls of this type were counted, so their pauses are not known */
	int64_t last_ns;
	struct histogram pauses; /* pauses between two events of this type; empty for threads */
};

/* Tallies by name. */
struct tallies {
	struct tally *tally;
	size_t nr, room;
	struct map by_name;   /* key: hash of the name; value: index + 1 */
	struct map by_number; /* key: event type or context; value: index + 1 */
};

struct trace_tally {
	struct tallies types, threads;
	uint64_t nr_events, nr_lost;
	int64_t duration_ns;
	bool is_foreign;
	bool lost_is_least; /* nr_lost is the number that was counted; more may be missing */
};

/* If the file cannot be read, print a message and return false. */
void tally_trace(struct trace_tally *trace, struct source *source, const struct selection *selection);
void tally_free(struct trace_tally *trace);

/* Return the tally with this name, or NULL. */
const struct tally *tally_find(const struct tallies *tallies, const char *name);

#endif
