/* SPDX-License-Identifier: MIT */
#include "waits/why_doubt.h"

#include <stdio.h>
#include <string.h>

/* Append a reason for which a signal may be missing. */
static void add_reason(struct words *reasons, const char *reason)
{
	size_t used = strlen(reasons->text);

	snprintf(reasons->text + used, sizeof(reasons->text) - used, "%s%s", used > 0 ? "; " : "", reason);
}

static bool has_processes(const struct source *source)
{
	pid_t first = 0;

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type != OBJECT_THREAD || object->pid == 0)
			continue;
		if (first != 0 && object->pid != first)
			return true;
		first = object->pid;
	}
	return false;
}

static struct words find_reasons(struct source *source)
{
	const unsigned long long nr_lost = source_nr_lost(source);
	const unsigned long long nr_unnamed = source_count_unnamed(source).nr_events;
	struct words reasons = {""};
	char text[80];

	snprintf(text, sizeof(text), "%llu events were lost", nr_lost);
	if (nr_lost > 0)
		add_reason(&reasons, text);
	else if (source->status.posix_log_overrun_status == POSIX_TRACE_OVERRUN)
		add_reason(&reasons, "the log has not all recorded events");
	if (source_incomplete(source))
		add_reason(&reasons, source_incomplete(source));
	snprintf(text, sizeof(text), "%llu events have no thread", nr_unnamed);
	if (nr_unnamed > 0)
		add_reason(&reasons, text);
	return reasons;
}

void why_doubt_begin(struct why_doubt *doubt, struct source *source)
{
	*doubt = (struct why_doubt){.reasons = find_reasons(source), .has_processes = has_processes(source)};
}

void why_doubt_end(struct why_doubt *doubt, const struct waits *waits)
{
	doubt->lacks_beginning = !waits->source->file.foreign && !waits->has_beginning;
	if (waits->nr_gaps > 0 && !*doubt->reasons.text)
		add_reason(&doubt->reasons, "the recording was interrupted, or its filter changed");
}
