/* SPDX-License-Identifier: MIT */
/*
 * The rules need later events, so the profile reads ahead. The window contains the events that were read, but whose
 * next context is not known yet.  Their numbers are from head to tail - 1.  In the window, the events of each context
 * are linked.  So the profile finds out in constant time which of two threads has the next event.
 */
#include "report/profile.h"

#include <string.h>

#include "base/memory.h"
#include "base/units.h"

#define MADE_AFTER 12 /* ticks from the event to the synthesized event after it */

struct seen {
	struct report_event event;
	uint64_t same; /* the next event of this context in the window, or NEVER */
};

struct profile {
	struct report_events *events;
	uint64_t head, tail;
	bool is_ended;	      /* the file has no more events after the window */
	unsigned int current; /* the thread to which interrupts return */
	unsigned int nesting; /* number of nested interrupts */
	bool wants_priorities, is_scan;
	bool has_made;
	struct report_event made;
	struct seen seen[PROFILE_AHEAD];
};

static bool is_thread(unsigned int context)
{
	return context != CONTEXT_INTERRUPT && context != CONTEXT_INITIALIZE;
}

static struct seen *seen_at(struct profile *profile, uint64_t i)
{
	return &profile->seen[i % PROFILE_AHEAD];
}

/* The window. */

/* Return false if the window is full, or at the end of the file. */
static bool read_one(struct profile *profile)
{
	uint64_t i = profile->tail;
	struct seen *seen = seen_at(profile, i);
	struct context *ctx;

	if (profile->is_ended || i - profile->head == PROFILE_AHEAD)
		return false;
	if (!report_events_next(profile->events, &seen->event)) {
		profile->is_ended = true;
		return false;
	}
	profile->tail++;
	seen->same = NEVER;
	ctx = seen->event.ctx;
	if (ctx->ahead_last != NEVER && ctx->ahead_last >= profile->head)
		seen_at(profile, ctx->ahead_last)->same = i;
	if (ctx->ahead_first == NEVER)
		ctx->ahead_first = i;
	ctx->ahead_last = i;
	return true;
}

/* Return the event with this number, or NULL if the window ends before it. */
static struct report_event *peek(struct profile *profile, uint64_t i)
{
	while (profile->tail <= i)
		if (!read_one(profile))
			return NULL;
	return &seen_at(profile, i)->event;
}

/* Return the number of the next event of the context in the window, or NEVER. */
static uint64_t next_of(const struct profile *profile, unsigned int context)
{
	const struct context *ctx = contexts_find(profile->events->contexts, context);

	return ctx && is_thread(context) ? ctx->ahead_first : NEVER;
}

/* Return true if the next event of b comes before the next event of a. */
static bool runs_before(struct profile *profile, unsigned int b, unsigned int a)
{
	uint64_t of_a, of_b;

	do {
		of_a = next_of(profile, a);
		of_b = next_of(profile, b);
	} while (of_a == NEVER && of_b == NEVER && read_one(profile));
	return of_b < of_a;
}

/* Return the next event of any thread, and store its number in *i. */
static const struct report_event *find_thread_event(struct profile *profile, uint64_t *i)
{
	const struct report_event *event;

	for (*i = profile->head; (event = peek(profile, *i)); (*i)++)
		if (is_thread(event->context))
			return event;
	return NULL;
}

/* The rules.  The window no longer contains the current event. head is the number of the event after it. */

static unsigned int next_after_suspend(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next = peek(profile, profile->head);

	/* Priority inheritance suspends the running thread for a short time. */
	if (next && event->context == event->word[0] && next->context == event->word[0])
		return event->context;
	return event->word[3];
}

static unsigned int next_after_resume(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next;
	uint64_t i;

	if (event->word[3] != 0)
		return event->word[3];
	next = find_thread_event(profile, &i);
	return next && next->context == event->word[0] ? event->word[0] : event->context;
}

static unsigned int next_after_relinquish(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next;
	uint64_t end;

	if (event->word[1] != 0)
		return event->word[1];
	next = find_thread_event(profile, &end);
	if (!next || next->context == event->context)
		return event->context;
	/*
	 * If an interrupt resumed or suspended that thread before `end`, this event is not the reason why the thread
	 * runs.
	 */
	for (uint64_t i = profile->head; i < end; i++) {
		const struct report_event *between = peek(profile, i);

		if ((between->native == NATIVE_THREAD_RESUME ||
		     between->native == NATIVE_THREAD_SUSPEND) &&
		    between->word[0] == next->context)
			return event->context;
	}
	return next->context;
}

static unsigned int next_after_thread(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next;

	profile->nesting = 0;
	switch (event->native) {
	case NATIVE_THREAD_SUSPEND:
		return next_after_suspend(profile, event);
	case NATIVE_THREAD_RESUME:
		return next_after_resume(profile, event);
	case NATIVE_THREAD_RELINQUISH:
		return next_after_relinquish(profile, event);
	default:
		next = peek(profile, profile->head);
		return next && is_thread(next->context) ? next->context : event->context;
	}
}

/* Find the thread that runs after the interrupt. */
static void note_interrupt(struct profile *profile, const struct report_event *event)
{
	switch (event->native) {
	case NATIVE_ISR_ENTER:
		profile->nesting++;
		break;
	case NATIVE_ISR_EXIT:
		profile->nesting -= profile->nesting > 0;
		break;
	case NATIVE_THREAD_SUSPEND:
		profile->current = event->word[3];
		break;
	case NATIVE_TIME_SLICE:
		profile->current = event->word[0];
		break;
	case NATIVE_THREAD_RESUME:
		if (event->word[3] != 0)
			profile->current = event->word[3];
		else if (runs_before(profile, event->word[0], profile->current))
			profile->current = event->word[0];
		break;
	default:
		break;
	}
}

static unsigned int next_after_interrupt(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next;

	note_interrupt(profile, event);
	if (profile->nesting > 0)
		return event->context;
	next = peek(profile, profile->head);
	if (!next)
		return profile->current;
	if (next->context != CONTEXT_INTERRUPT || next->native == NATIVE_THREAD_RESUME)
		return next->context;
	return next->interrupted != 0 ? next->interrupted : profile->current;
}

static unsigned int next_after(struct profile *profile, const struct report_event *event)
{
	const struct report_event *next;
	unsigned int context;

	if (is_thread(event->context))
		context = profile->current = next_after_thread(profile, event);
	else
		context = next_after_interrupt(profile, event);
	/*
	 * An event of an interrupt names the interrupted thread, so that thread ran before.  As in TraceX, do not use
	 * this after the first event of the file.
	 */
	next = peek(profile, profile->head);
	if (next && profile->head > 1 && event->context != CONTEXT_INTERRUPT &&
	    next->interrupted != 0 && next->interrupted != CONTEXT_INTERRUPT)
		context = profile->current = next->interrupted;
	return context;
}

/* Priorities. */

static void annotate_name(struct profile *profile, struct context *ctx, int priority)
{
	ctx->named_priority = priority;
	if (profile->is_scan && ctx->first_named_priority < 0)
		ctx->first_named_priority = priority;
}

static void note_priority(struct profile *profile, const struct report_event *event)
{
	if (!profile->wants_priorities)
		return;
	if (event->native != NATIVE_RUNNING)
		annotate_name(profile, event->ctx, event->priority);
	if (event->native == NATIVE_THREAD_CREATE && event->word[0] != event->context)
		annotate_name(profile, contexts_add(profile->events->contexts, event->word[0]),
			      (int)(event->word[1] & INT32_MAX));
}

/*
 * Return the priority for a Running event: the last known priority of the thread, otherwise the first priority that the
 * scan found, otherwise 0.
 */
static int priority_of(const struct profile *profile, const struct context *ctx)
{
	if (!ctx->is_thread)
		return 0;
	if (ctx->named_priority >= 0 || profile->is_scan)
		return ctx->named_priority;
	return ctx->first_named_priority >= 0 ? ctx->first_named_priority : 0;
}

/* A first pass finds the first priority of each thread. */
static void scan_priorities(struct profile *profile)
{
	struct contexts *contexts = profile->events->contexts;
	struct report_event event;

	profile->is_scan = true;
	while (profile_next(profile, &event)) {
		if (!event.ctx->has_first)
			event.ctx->first_priority = event.priority;
		event.ctx->has_first = true;
	}
	for (size_t i = 0; i < contexts->nr_contexts; i++) {
		struct context *ctx = contexts->ctx[i];

		if (ctx->has_first && ctx->first_priority < 0)
			ctx->first_priority = ctx->first_named_priority;
		ctx->named_priority = -1;
		ctx->ahead_first = ctx->ahead_last = NEVER;
	}
	source_rewind(profile->events->source);
	report_events_track_mutexes(profile->events);
	profile->events->nr_read = 0;
	profile->head = profile->tail = 0;
	profile->current = profile->nesting = 0;
	profile->is_ended = profile->is_scan = false;
}

/* Reading. */

struct profile *profile_new(struct report_events *events, bool wants_priorities)
{
	struct profile *profile = must(calloc(1, sizeof(*profile)));

	profile->events = events;
	profile->wants_priorities = wants_priorities;
	if (wants_priorities)
		scan_priorities(profile);
	return profile;
}

void profile_free(struct profile *profile)
{
	free(profile);
}

static void make_running(struct profile *profile, const struct report_event *event,
			 const struct report_event *next)
{
	struct context *ctx = contexts_get(profile->events->contexts, event->next);
	struct report_event *made = &profile->made;

	*made = (struct report_event){
		.at = event->at + (next->at - event->at > MADE_AFTER ? MADE_AFTER : 0),
		.number = event->number,
		.ctx = ctx,
		.context = event->next,
		.next = event->next,
		.native = NATIVE_RUNNING,
		.type = FOREIGN_TYPES + NATIVE_RUNNING,
		.priority = priority_of(profile, ctx),
		.cpu = event->cpu,
		.passes = event->passes,
		.counts = event->counts,
		.is_made = true,
	};
	profile->has_made = true;
}

static void charge(struct profile *profile, const struct report_event *event,
		   const struct report_event *next)
{
	struct report_events *events = profile->events;
	struct context *ctx = event->next == event->context ?
				      event->ctx :
				      contexts_get(events->contexts, event->next);

	if (event->passes && !profile->is_scan)
		units_add(&ctx->time, report_events_clip(events, event->at, next->at));
}

bool profile_next(struct profile *profile, struct report_event *event)
{
	const struct report_event *next;

	if (profile->has_made) {
		*event = profile->made;
		profile->has_made = false;
		return true;
	}
	if (!peek(profile, profile->head))
		return false;
	*event = seen_at(profile, profile->head)->event;
	event->ctx->ahead_first = seen_at(profile, profile->head)->same;
	profile->head++;
	event->next = next_after(profile, event);
	next = peek(profile, profile->head);
	if (next) {
		charge(profile, event, next);
		if (event->context != event->next && event->next != next->context)
			make_running(profile, event, next);
	}
	note_priority(profile, event);
	return true;
}
