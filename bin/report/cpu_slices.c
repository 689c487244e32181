/* SPDX-License-Identifier: MIT */
#include "report/cpu_slices.h"

#include "report/contexts.h"
#include "report/events.h"
#include "report/profile.h"

struct cpu_slice {
	const struct steps *steps;
	void (*runs)(void *arg, unsigned int context, int64_t from_ns, int64_t until_ns);
	void *arg;
	unsigned int context;
	int64_t from; /* in the unit of step.at */
};

static void end_slice(const struct cpu_slice *slice, int64_t until)
{
	const struct steps *steps = slice->steps;
	int64_t from = slice->from < steps->begin ? steps->begin : slice->from;
	int64_t first_ns = steps->source->first_ns;

	if (until > steps->end)
		until = steps->end;
	if (until > from && slice->context != CONTEXT_IDLE)
		slice->runs(slice->arg, slice->context,
			      first_ns + report_events_ns(steps, from),
			      first_ns + report_events_ns(steps, until));
}

void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg)
{
	struct steps steps;
	struct cpu_slice slice = {.steps = &steps, .runs = runs, .arg = arg};
	struct contexts contexts;
	struct profile *profile;
	struct step step;

	source_rewind(source);
	contexts_init(&contexts, source);
	report_events_init(&steps, source, &contexts, selection);
	profile = profile_new(&steps, false);
	while (profile_next(profile, &step)) {
		if (step.next == slice.context)
			continue;
		end_slice(&slice, step.at);
		slice.context = step.next;
		slice.from = step.at;
	}
	end_slice(&slice, steps.last);
	profile_free(profile);
	report_events_free(&steps);
	contexts_free(&contexts);
}
