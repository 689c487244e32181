/* SPDX-License-Identifier: MIT */
#include "report/cpu_slices.h"

#include "report/contexts.h"
#include "report/events.h"
#include "report/profile.h"

struct cpu_slice {
	const struct report_events *events;
	void (*runs)(void *arg, unsigned int context, int64_t from_ns, int64_t until_ns);
	void *arg;
	unsigned int context;
	int64_t from; /* start of the slice, in the unit of event.at */
};

static void end_slice(const struct cpu_slice *slice, int64_t until)
{
	const struct report_events *events = slice->events;
	int64_t from = slice->from < events->begin ? events->begin : slice->from;
	int64_t first_ns = events->source->first_ns;

	if (until > events->end)
		until = events->end;
	if (until > from && slice->context != CONTEXT_IDLE)
		slice->runs(slice->arg, slice->context, first_ns + report_events_ns(events, from),
			    first_ns + report_events_ns(events, until));
}

void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg)
{
	struct report_events events;
	struct cpu_slice slice = {.events = &events, .runs = runs, .arg = arg};
	struct contexts contexts;
	struct profile *profile;
	struct report_event event;

	source_rewind(source);
	contexts_init(&contexts, source);
	report_events_init(&events, source, &contexts, selection);
	profile = profile_new(&events, false);
	while (profile_next(profile, &event)) {
		if (event.next == slice.context)
			continue;
		end_slice(&slice, event.at);
		slice.context = event.next;
		slice.from = event.at;
	}
	end_slice(&slice, events.last);
	profile_free(profile);
	report_events_free(&events);
	contexts_free(&contexts);
}
