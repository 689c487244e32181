/* SPDX-License-Identifier: MIT */
/*
 * How long the threads of a trace waited, held objects and ran, and how long its spans took.  Names identify objects,
 * calls, threads and spans, so that two traces can be compared.
 */
#ifndef TXTRACE_DIFF_TIMES_H
#define TXTRACE_DIFF_TIMES_H

#include <stdbool.h>

#include "base/durations.h"
#include "base/map.h"
#include "report/spans.h"
#include "trace/selection.h"
#include "trace/source.h"

/* In the order in which they are printed.  Holds come first: they are causes, and waits are effects. */
enum measure {
	MEASURE_HOLD,
	MEASURE_WAIT,
	MEASURE_SPAN,
	MEASURE_CPU,
	MEASURE_CALL_WAIT,
	MEASURE_THREAD_WAIT,
	MEASURE_THREAD_HOLD,
	NR_MEASURES
};

struct timed {
	char *name;
	struct durations durations;
	bool is_partial; /* calls were counted instead of recorded, so not all times are known */
};

/* Timed things by name. */
struct timed_list {
	bool is_known; /* the trace shows these times */
	struct timed *timed;
	size_t nr, room;
	struct map by_name; /* key: hash of the name; value: index + 1 */
};

struct trace_times {
	struct timed_list of[NR_MEASURES];
};

/* The spans may be NULL.  The caller calls times_free(). */
void times_read(struct trace_times *times, struct source *source, const struct selection *selection,
		struct spans *spans);
void times_free(struct trace_times *times);

/* Return the times of this name, or NULL. */
struct timed *times_find(const struct timed_list *list, const char *name);

/* Write the name of a thread without the number that logs append to it: the number differs in each run. */
void times_thread_name(const struct source *source, unsigned int context, const char *name, char text[128]);

#endif
