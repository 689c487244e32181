/* SPDX-License-Identifier: MIT */
/*
 * The event types that a stream records, by name: --event and --no-event.
 *
 * The stream has a filter: a set of types that are not recorded. If the user gives the whole name of a type, the tool
 * opens the type for the target before the target runs. So the filter is exact from the first instruction on. Types
 * that match a glob become known only when the target opens them. The tool notices a new type some milliseconds later.
 * Until then the stream records the type. So the trace may have some unwanted events, but no event is missing.
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
	bool has_takes;	    /* the user gave --event, so record only these types */
	bool has_globs;	    /* some names have wildcards */
	bool takes_by_glob; /* some names of --event have wildcards */
	bool knows_calls;   /* the target is preloaded, so the types of its calls are known before it begins */
	trace_event_set_t filter, system;
};

/* Add a name or glob. If there are too many, print a message and return false. */
bool type_filter_add(struct type_filter *choice, const char *glob, bool takes);

/* Set the filter before the stream starts. Return 0 or an error number. */
int type_filter_begin(struct type_filter *choice, trace_id_t trace);

/* Check the types that exist now, and update the filter. */
int type_filter_update(struct type_filter *choice, trace_id_t trace);

/* Return true if the target itself has opened a type. */
bool type_filter_sees_others(const struct type_filter *choice, trace_id_t trace);

#endif
