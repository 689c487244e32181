/* SPDX-License-Identifier: MIT */
#include "report/events.h"

#include <string.h>

#include "report/states.h"
#include "trace/calls.h"

void report_events_init(struct report_events *events, struct source *source,
			struct contexts *contexts, const struct selection *selection)
{
	*events = (struct report_events){
		.source = source, .selection = selection, .contexts = contexts};
	events->from = events->begin = INT64_MIN;
	events->to = events->end = INT64_MAX;
}

static void take_given(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct report_events *events = arg;

	(void)at_ns;
	events->given = hold->object->handle;
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	const struct report_events *events = arg;

	if (events->states)
		states_spent(events->states, thread, waiter, state, from_ns, until_ns);
}

void report_events_track_mutexes(struct report_events *events)
{
	if (events->waits.source)
		waits_free(&events->waits);
	events->listener = (struct waits_listener){.arg = events, .given = take_given, .spent = take_spent};
	waits_init(&events->waits, events->source, &events->listener);
}

void report_events_free(struct report_events *events)
{
	if (events->waits.source)
		waits_free(&events->waits);
}

/*
 * Push the event into the model of waits.h.  Then get from the model which thread holds the mutex, or which mutex the
 * thread has given back.
 */
static void find_owner(struct report_events *events, const struct event *raw,
		       struct report_event *event)
{
	const struct hold *hold;

	events->given = 0;
	waits_event(&events->waits, raw, true);
	if (event->native == NATIVE_MUTEX_PUT)
		event->given = events->given;
	if (event->native != NATIVE_MUTEX_GET)
		return;
	hold = waits_holder(&events->waits, event->word[0]);
	if (hold && hold->thread->context != raw->context)
		event->owner = hold->thread->context;
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
 * The library returns nanoseconds.  The length of a tick need not be a whole number of nanoseconds.  If a tick is at
 * least 2 ns long, rounding gives the exact tick.
 */
static int64_t at_of(const struct source *source, int64_t ns)
{
	if (!source->file.foreign)
		return ns;
	return rounded((double)ns / source->file.tick_ns);
}

int64_t report_events_ns(const struct report_events *events, int64_t at)
{
	if (!events->source->file.foreign)
		return at;
	return rounded((double)at * events->source->file.tick_ns);
}

/* Times on the command line count from the first event. So call this after reading the first event. */
static void find_range(struct report_events *events)
{
	const struct source *source = events->source;

	if (events->selection->from.is_set) {
		events->from = time_arg_ns(&events->selection->from, source);
		events->begin = at_of(source, events->from - source->first_ns);
	}
	if (events->selection->until.is_set) {
		events->to = time_arg_ns(&events->selection->until, source);
		events->end = at_of(source, events->to - source->first_ns);
	}
}

bool report_events_next(struct report_events *events, struct report_event *event)
{
	struct source *source = events->source;
	const struct event *raw = &events->raw;
	struct sched_record record;

	if (!calls_next(source, &events->raw)) {
		selection_report_empty(events->selection, source);
		return false;
	}
	if (events->nr_read++ == 0)
		find_range(events);
	event->at = at_of(source, raw->time_ns - source->first_ns);
	if (event->at > events->last)
		events->last = event->at;
	event->number = raw->number;
	event->context = event->next = raw->context;
	event->ctx = contexts_get(events->contexts, raw->context);
	event->interrupted = raw->interrupted;
	event->native = event_native(raw);
	event->type = raw->type;
	record = sched_read(raw);
	event->sched = record.kind;
	event->is_ready = record.kind == SCHED_OUT && record.thread.state == TXTRACE_READY;
	event->service = call_type(raw);
	event->caller = contexts_get(events->contexts, call_context(source, raw));
	event->nr_calls = call_counted(raw) ? call_number(raw) : 1;
	event->priority = raw->priority;
	event->cpu = raw->cpu;
	event->pid = raw->pid;
	for (int i = 0; i < 4; i++)
		event->word[i] = event_word(raw, i);
	event->passes = filter_takes(events->selection->filter, source, raw);
	event->counts = event->passes && raw->time_ns >= events->from && raw->time_ns < events->to;
	source->nr_selected += event->counts;
	event->is_made = raw->is_made;
	event->is_over = raw->is_over;
	event->owner = event->given = 0;
	if (events->waits.source)
		find_owner(events, raw, event);
	return true;
}

int64_t report_events_clip(const struct report_events *events, int64_t from, int64_t to)
{
	if (from < events->begin)
		from = events->begin;
	if (to > events->end)
		to = events->end;
	return to > from ? to - from : 0;
}

int64_t report_events_duration(const struct report_events *events)
{
	return report_events_clip(events, 0, events->last);
}
