/* SPDX-License-Identifier: MIT */
#include "report/cpu_slices.h"

#include "report/contexts.h"
#include "report/events.h"
#include "report/profile.h"

struct stretch {
	const struct steps *steps;
	void (*runs)(void *arg, unsigned int context, int64_t from_ns, int64_t until_ns);
	void *arg;
	unsigned int context;
	int64_t from; /* as times of steps */
};

static void end_stretch(const struct stretch *stretch, int64_t until)
{
	const struct steps *steps = stretch->steps;
	int64_t from = stretch->from < steps->begin ? steps->begin : stretch->from;
	int64_t first_ns = steps->source->first_ns;

	if (until > steps->end)
		until = steps->end;
	if (until > from && stretch->context != CONTEXT_IDLE)
		stretch->runs(stretch->arg, stretch->context,
			      first_ns + report_events_ns(steps, from),
			      first_ns + report_events_ns(steps, until));
}

void cpu_slices_report(struct source *source, const struct selection *selection,
		       void (*runs)(void *arg, unsigned int context, int64_t from_ns,
				    int64_t until_ns),
		       void *arg)
{
	struct steps steps;
	struct stretch stretch = {.steps = &steps, .runs = runs, .arg = arg};
	struct contexts contexts;
	struct profile *profile;
	struct step step;

	source_rewind(source);
	contexts_init(&contexts, source);
	report_events_init(&steps, source, &contexts, selection);
	profile = profile_new(&steps, false);
	while (profile_next(profile, &step)) {
		if (step.next == stretch.context)
			continue;
		end_stretch(&stretch, step.at);
		stretch.context = step.next;
		stretch.from = step.at;
	}
	end_stretch(&stretch, steps.last);
	profile_free(profile);
	contexts_free(&contexts);
}
