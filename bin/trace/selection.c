/* SPDX-License-Identifier: MIT */
#include "trace/selection.h"

#include <stdlib.h>

#include "base/message.h"
#include "base/when.h"
#include "cli/options.h"
#include "trace/calls.h"
#include "trace/event_names.h"
#include "trace/payload.h"

int selection_option(struct selection *selection, int code, const char *argument)
{
	char *end;

	switch (code) {
	case 'f':
		filter_free(selection->filter);
		selection->filter = filter_parse(argument);
		return selection->filter ? 1 : -1;
	case OPTION_FROM:
		return time_arg_parse(argument, &selection->from) ? 1 : -1;
	case OPTION_UNTIL:
		return time_arg_parse(argument, &selection->until) ? 1 : -1;
	case OPTION_TIME:
		return when_option(argument) ? 1 : -1;
	case OPTION_TYPE:
		return type_lines_option(argument) ? 1 : -1;
	case 'T':
		return type_lines_file(argument) ? 1 : -1;
	case OPTION_NAMES:
		return event_names_file(argument) ? 1 : -1;
	case OPTION_TICK:
		selection->tick_ns = strtod(argument, &end);
		if (end != argument && *end == '\0' && selection->tick_ns >= 1e-9 &&
		    selection->tick_ns <= 1e15)
			return 1;
		message("%s is not a tick length in nanoseconds", argument);
		return -1;
	default:
		return 0;
	}
}

bool selection_begin(const struct selection *selection, struct source *const *sources, size_t nr)
{
	if (selection->from.is_set && selection->until.is_set &&
	    time_arg_is_never_before(&selection->from, &selection->until)) {
		message("no time is in the range: --from is not before --until");
		return false;
	}
	for (size_t i = 0; i < nr; i++)
		payload_begin(sources[i]);
	payload_report_unused();
	return filter_check(selection->filter, sources, nr);
}

struct time_range selection_range(const struct selection *selection, const struct source *source)
{
	struct time_range range = {INT64_MIN, INT64_MAX};

	if (selection->from.is_set)
		range.from_ns = time_arg_ns(&selection->from, source);
	if (selection->until.is_set)
		range.until_ns = time_arg_ns(&selection->until, source);
	return range;
}

bool selection_next(const struct selection *selection, struct source *source, struct event *event)
{
	while (calls_next(source, event)) {
		if (selection->from.is_set &&
		    event->time_ns < time_arg_ns(&selection->from, source))
			continue;
		if (selection->until.is_set &&
		    event->time_ns >= time_arg_ns(&selection->until, source))
			continue; /* OVERFLOW carries an earlier time, so later events may still be in range */
		if (filter_takes(selection->filter, source, event)) {
			source->nr_selected++;
			return true;
		}
	}
	selection_report_empty(selection, source);
	return false;
}

void selection_report_empty(const struct selection *selection, struct source *source)
{
	bool has_range = selection->from.is_set || selection->until.is_set;
	int64_t length_ns = source->last_ns - source->first_ns;

	if (source->nr_selected > 0 || source->nr_read == 0 || source->is_empty_reported ||
	    (!selection->filter && !has_range))
		return;
	source->is_empty_reported = true;
	if (selection->filter) {
		message("%s: no event %smatches the filter", source->path, has_range ? "in this range of times " : "");
		filter_report_missing(selection->filter, source);
	} else {
		message("%s: no event is in this range of times; the last event is %lld.%09lld s after the first one",
			source->path, (long long)(length_ns / NS_PER_S), llabs(length_ns % NS_PER_S));
	}
}

void selection_free(struct selection *selection)
{
	filter_free(selection->filter);
	selection->filter = NULL;
}
