/* SPDX-License-Identifier: MIT */
#include "live/type_filter.h"

#include <fnmatch.h>
#include <string.h>

#include "base/message.h"
#include "trace/calltable.h"

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[\\") != NULL;
}

/* Return true if all names of --event are whole names. Then all types are already known. */
static bool is_exact(const struct type_filter *choice)
{
	return choice->has_takes ? !choice->takes_by_glob : !choice->has_globs;
}

bool type_filter_add(struct type_filter *choice, const char *glob, bool takes)
{
	if (choice->nr == CHOICES_MAX) {
		message("--event and --no-event can be given at most %d times in total", CHOICES_MAX);
		return false;
	}
	choice->glob[choice->nr] = glob;
	choice->takes[choice->nr++] = takes;
	choice->has_takes |= takes;
	choice->has_globs |= is_glob(glob);
	choice->takes_by_glob |= takes && is_glob(glob);
	return true;
}

/* If a name matches both, --no-event overrides --event. */
static bool takes_name(const struct type_filter *choice, const char *name)
{
	bool is_taken = !choice->has_takes;

	for (int i = 0; i < choice->nr; i++) {
		if (fnmatch(choice->glob[i], name, 0) != 0)
			continue;
		if (!choice->takes[i])
			return false;
		is_taken = true;
	}
	return is_taken;
}

static void set_member(struct type_filter *choice, trace_event_id_t type, bool is_taken)
{
	if (is_taken)
		posix_trace_eventset_del(type, &choice->filter);
	else
		posix_trace_eventset_add(type, &choice->filter);
}

/* Always record system events, because they show gaps. */
static int check_types(struct type_filter *choice, trace_id_t trace, bool *has_changed)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int unavailable, error;

	for (;;) {
		int is_system = 0, is_filtered = 0;
		bool is_taken;

		error = posix_trace_eventtypelist_getnext_id(trace, &type, &unavailable);
		if (error || unavailable)
			return error;
		if (posix_trace_eventid_get_name(trace, type, name) != 0)
			continue;
		posix_trace_eventset_ismember(type, &choice->system, &is_system);
		posix_trace_eventset_ismember(type, &choice->filter, &is_filtered);
		is_taken = is_system || takes_name(choice, name);
		*has_changed |= is_taken != !is_filtered;
		set_member(choice, type, is_taken);
	}
}

static int open_names(const struct type_filter *choice, trace_id_t trace)
{
	for (int i = 0; i < choice->nr; i++) {
		trace_event_id_t type;
		int error = is_glob(choice->glob[i]) ?
				    0 :
				    posix_trace_trid_eventid_open(trace, choice->glob[i], &type);

		if (error)
			return error;
	}
	return 0;
}

/* A preloaded program makes thousands of calls before a filter that looks at its types can exclude them. */
static int open_unwanted_calls(const struct type_filter *choice, trace_id_t trace)
{
	const struct call_row *row;

	for (unsigned int i = 0; (row = calltable_row(i)); i++) {
		trace_event_id_t type;
		int error = takes_name(choice, row->name) ? 0 :
							    posix_trace_trid_eventid_open(trace, row->name, &type);

		if (error)
			return error;
	}
	return 0;
}

/* If --event has only whole names, exclude all other types, even those that are opened later. */
int type_filter_begin(struct type_filter *choice, trace_id_t trace)
{
	bool has_changed = false;
	int error;

	if (choice->nr == 0)
		return 0;
	posix_trace_eventset_fill(&choice->system, POSIX_TRACE_SYSTEM_EVENTS);
	if (choice->has_takes && is_exact(choice))
		posix_trace_eventset_fill(&choice->filter, POSIX_TRACE_ALL_EVENTS);
	else
		posix_trace_eventset_empty(&choice->filter);
	error = open_names(choice, trace);
	if (!error && choice->knows_calls && !is_exact(choice))
		error = open_unwanted_calls(choice, trace);
	if (!error)
		error = check_types(choice, trace, &has_changed);
	if (!error)
		error = posix_trace_set_filter(trace, &choice->filter, POSIX_TRACE_SET_EVENTSET);
	return error;
}

static bool is_ours(const struct type_filter *choice, const char *name)
{
	for (int i = 0; i < choice->nr; i++)
		if (strcmp(choice->glob[i], name) == 0)
			return true;
	return choice->knows_calls && !takes_name(choice, name) && calltable_find(name);
}

bool type_filter_sees_others(const struct type_filter *choice, trace_id_t trace)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_set_t system;
	trace_event_id_t type;
	int unavailable;

	posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &system);
	posix_trace_eventtypelist_rewind(trace);
	while (posix_trace_eventtypelist_getnext_id(trace, &type, &unavailable) == 0 &&
	       !unavailable) {
		int is_predefined = 0;

		posix_trace_eventset_ismember(type, &system, &is_predefined);
		if (!is_predefined && posix_trace_eventid_get_name(trace, type, name) == 0 &&
		    !is_ours(choice, name))
			return true;
	}
	return false;
}

int type_filter_update(struct type_filter *choice, trace_id_t trace)
{
	bool has_changed = false;
	int error;

	if (choice->nr == 0 || is_exact(choice))
		return 0;
	error = check_types(choice, trace, &has_changed);
	if (!error && has_changed)
		error = posix_trace_set_filter(trace, &choice->filter, POSIX_TRACE_SET_EVENTSET);
	return error;
}
