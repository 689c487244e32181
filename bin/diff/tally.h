/* SPDX-License-Identifier: MIT */
/* What is counted of a trace to compare it with another: by event type and by thread, which go by their names. */
#ifndef TXTRACE_DIFF_TALLY_H
#define TXTRACE_DIFF_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/map.h"
#include "trace/filter.h"
#include "trace/source.h"

struct tally {
	char *name;
	uint64_t count;
	int64_t last_ns;
	struct histogram pauses; /* between one and the next; of event types only */
};

/* Tallies by name. */
struct tallies {
	struct tally *tally;
	size_t nr, room;
	struct map by_name;   /* hash -> index + 1 */
	struct map by_number; /* of the type, or the context -> index + 1 */
};

struct trace_tally {
	struct tallies types, threads;
	uint64_t nr_events, nr_lost;
	int64_t duration_ns;
	bool is_foreign;
};

/* False: the file cannot be read, and that was said. */
bool tally_trace(struct trace_tally *trace, const char *path, const struct selection *selection);
void tally_free(struct trace_tally *trace);

/* NULL: there is none of this name. */
const struct tally *tally_find(const struct tallies *tallies, const char *name);

#endif
