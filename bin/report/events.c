/* SPDX-License-Identifier: MIT */
#include "report/events.h"

#include <string.h>

#include "trace/calls.h"

void report_events_init(struct steps *steps, struct source *source, struct contexts *contexts,
			const struct selection *selection)
{
	*steps = (struct steps){.source = source, .selection = selection, .contexts = contexts};
	steps->from = steps->begin = INT64_MIN;
	steps->to = steps->end = INT64_MAX;
}

static void take_given(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct steps *steps = arg;

	(void)at_ns;
	steps->given = hold->object->handle;
}

void report_events_track_mutexes(struct steps *steps)
{
	if (steps->waits.source)
		waits_free(&steps->waits);
	steps->listener = (struct waits_listener){.arg = steps, .given = take_given};
	waits_init(&steps->waits, steps->source, &steps->listener);
}

void report_events_free(struct steps *steps)
{
	if (steps->waits.source)
		waits_free(&steps->waits);
}

/*
 * Push the event into the model of waits.h, then read from it which thread holds the mutex, or which mutex was given
 * back.
 */
static void find_owner(struct steps *steps, const struct event *event, struct step *step)
{
	const struct hold *hold;

	steps->given = 0;
	waits_event(&steps->waits, event, true);
	if (step->native == NATIVE_MUTEX_PUT)
		step->given = steps->given;
	if (step->native != NATIVE_MUTEX_GET)
		return;
	hold = waits_holder(&steps->waits, step->word[0]);
	if (hold && hold->thread->context != event->context)
		step->owner = hold->thread->context;
}

static int64_t rounded(double number)
{
	if (number >= 9e18)
		return INT64_MAX;
	if (number <= -9e18)
		return INT64_MIN;
	return (int64_t)(number + (number < 0 ? -0.5 : 0.5));
}

/*
 * The library returns nanoseconds.  A tick may not be a whole number of nanoseconds.  Rounding gives the exact tick if
 * a tick is at least 2 ns long.
 */
static int64_t at_of(const struct source *source, int64_t ns)
{
	if (!source->file.foreign)
		return ns;
	return rounded((double)ns / source->file.tick_ns);
}

int64_t report_events_ns(const struct steps *steps, int64_t at)
{
	if (!steps->source->file.foreign)
		return at;
	return rounded((double)at * steps->source->file.tick_ns);
}

/* Times on the command line count from the first event. So call this after reading the first event. */
static void find_range(struct steps *steps)
{
	const struct source *source = steps->source;

	if (steps->selection->from.is_set) {
		steps->from = time_arg_ns(&steps->selection->from, source);
		steps->begin = at_of(source, steps->from - source->first_ns);
	}
	if (steps->selection->until.is_set) {
		steps->to = time_arg_ns(&steps->selection->until, source);
		steps->end = at_of(source, steps->to - source->first_ns);
	}
}

bool report_events_next(struct steps *steps, struct step *step)
{
	struct source *source = steps->source;
	struct event event;

	if (!calls_next(source, &event))
		return false;
	if (steps->nr_read++ == 0)
		find_range(steps);
	step->at = at_of(source, event.time_ns - source->first_ns);
	if (step->at > steps->last)
		steps->last = step->at;
	step->number = event.number;
	step->context = step->next = event.context;
	step->ctx = contexts_get(steps->contexts, event.context);
	step->interrupted = event.interrupted;
	step->native = event_native(&event);
	step->type = event.type;
	step->priority = event.priority;
	step->cpu = event.cpu;
	step->pid = event.pid;
	for (int i = 0; i < 4; i++)
		step->word[i] = event_word(&event, i);
	step->passes = filter_takes(steps->selection->filter, source, &event);
	step->counts = step->passes && event.time_ns >= steps->from && event.time_ns < steps->to;
	step->is_made = event.is_made;
	step->is_over = event.is_over;
	step->owner = step->given = 0;
	if (steps->waits.source)
		find_owner(steps, &event, step);
	return true;
}

int64_t report_events_clip(const struct steps *steps, int64_t from, int64_t to)
{
	if (from < steps->begin)
		from = steps->begin;
	if (to > steps->end)
		to = steps->end;
	return to > from ? to - from : 0;
}

int64_t report_events_duration(const struct steps *steps)
{
	return report_events_clip(steps, 0, steps->last);
}
