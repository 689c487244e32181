/* SPDX-License-Identifier: MIT */
/*
 * Which event types a stream records, by their names: --event and --no-event.
 *
 * The stream has a filter, a set of types that are not recorded.  A type that is asked for by its whole name is opened
 * for the target before it runs; so what it records of that is exact from the first instruction on.  What names a glob
 * matches is known only when the target opens a type: until that is seen, some milliseconds later, the type is
 * recorded.  So there may be a few events too many, and none is missing.
 */
#ifndef TXTRACE_LIVE_TYPE_FILTER_H
#define TXTRACE_LIVE_TYPE_FILTER_H

#include <stdbool.h>
#include <trace.h>

#define CHOICES_MAX 64

struct type_filter {
	int nr;
	const char *glob[CHOICES_MAX];
	bool takes[CHOICES_MAX];
	bool has_takes;	    /* only what is asked for is recorded */
	bool has_globs;	    /* some are not whole names, */
	bool takes_by_glob; /* and of these some that are recorded */
	trace_event_set_t filter, system;
};

/* False: there are too many, and that was said. */
bool type_filter_add(struct type_filter *choice, const char *glob, bool takes);

/* Before the stream is started; 0 or an error number. */
int type_filter_begin(struct type_filter *choice, trace_id_t trace);

/* Look at the types that there are by now. */
int type_filter_update(struct type_filter *choice, trace_id_t trace);

/* Whether the target has opened a type, other than by our doing. */
bool type_filter_sees_others(const struct type_filter *choice, trace_id_t trace);

#endif
