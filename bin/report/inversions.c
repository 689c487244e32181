/* SPDX-License-Identifier: MIT */
#include "report/inversions.h"

#include "base/memory.h"

struct inversions *inversions_new(struct contexts *contexts)
{
	struct inversions *inversions = must(calloc(1, sizeof(*inversions)));

	inversions->contexts = contexts;
	return inversions;
}

void inversions_free(struct inversions *inversions)
{
	if (!inversions)
		return;
	free(inversions->kept);
	free(inversions);
}

static bool is_open(const struct inversions *inversions, unsigned int mutex)
{
	for (size_t i = 0; i < inversions->nr_open; i++)
		if (inversions->open[i].mutex == mutex &&
		    inversions->open[i].state == INVERSION_OPEN)
			return true;
	return false;
}

/* Return the priority of a thread.  Before the first event of the thread, this is the priority in that event. */
static int priority_of(const struct context *ctx)
{
	return ctx->priority >= 0 ? ctx->priority : ctx->first_priority;
}

/* Add the inversion to the list.  The list is in the order in which the inversions begin. */
static void keep(struct inversions *inversions, struct inversion *inversion)
{
	if (!inversion->counts || inversions->nr_kept == INVERSIONS_KEPT)
		return;
	if ((inversions->nr_kept & (inversions->nr_kept - 1)) == 0)
		inversions->kept = must(reallocarray(
			inversions->kept, inversions->nr_kept ? 2 * inversions->nr_kept : 1,
			sizeof(*inversions->kept)));
	inversion->kept = ++inversions->nr_kept;
	inversions->kept[inversion->kept - 1] = *inversion;
}

static void set_state(struct inversions *inversions, struct inversion *inversion,
		      enum inversion_state state)
{
	inversions->nr_ending += state == INVERSION_ENDS;
	inversions->nr_ending -= inversion->state == INVERSION_ENDS;
	inversion->state = state;
	if (inversion->kept > 0)
		inversions->kept[inversion->kept - 1] = *inversion;
}

static bool begin(struct inversions *inversions, const struct report_event *event)
{
	struct context *owner = event->owner ? contexts_find(inversions->contexts, event->owner) :
					       NULL;
	struct inversion *inversion = &inversions->open[inversions->nr_open];

	if (!owner || event->priority >= priority_of(owner) || is_open(inversions, event->word[0]))
		return false;
	inversions->nr_deterministic += event->counts;
	if (inversions->nr_open == INVERSIONS_OPEN) {
		inversions->nr_not_followed += event->counts;
		return true;
	}
	*inversion = (struct inversion){
		.blocked = event->ctx,
		.owner = owner,
		.mutex = event->word[0],
		.blocked_priority = event->priority,
		.owner_priority = priority_of(owner),
		.number = event->number,
		.begin = event->at,
		.length = -1,
		.counts = event->counts,
	};
	keep(inversions, inversion);
	inversions->nr_open++;
	return true;
}

static bool note_give_back(struct inversions *inversions, const struct report_event *event)
{
	if (event->given == 0)
		return false;
	for (size_t i = 0; i < inversions->nr_open; i++) {
		struct inversion *inversion = &inversions->open[i];

		if (inversion->mutex != event->given || inversion->state != INVERSION_OPEN)
			continue;
		set_state(inversions, inversion, INVERSION_ENDS);
		return true;
	}
	return false;
}

static void find_culprit(struct inversions *inversions, const struct report_event *event)
{
	for (size_t i = 0; i < inversions->nr_open; i++) {
		struct inversion *inversion = &inversions->open[i];

		if (inversion->state != INVERSION_OPEN || event->ctx == inversion->owner ||
		    event->priority <= inversion->blocked_priority)
			continue;
		inversion->culprit = event->ctx;
		set_state(inversions, inversion, INVERSION_ENDS);
		inversions->nr_deterministic -= inversion->counts;
		inversions->nr_other += inversion->counts;
	}
}

/* An inversion ends when the waiting thread has an event again. */
static void end(struct inversions *inversions, const struct report_event *event)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < inversions->nr_open; i++) {
		struct inversion *inversion = &inversions->open[i];

		if (inversion->state == INVERSION_ENDS && inversion->blocked == event->ctx) {
			inversion->length = event->at - inversion->begin;
			set_state(inversions, inversion, INVERSION_ENDED);
		}
		if (inversion->state != INVERSION_ENDED)
			inversions->open[nr_left++] = *inversion;
	}
	inversions->nr_open = nr_left;
}

void inversions_event(struct inversions *inversions, const struct report_event *event)
{
	if (event->context >= CONTEXT_INITIALIZE || event->context == CONTEXT_IDLE)
		return;
	if (event->priority >= 0 || !event->is_made) /* an inserted RESUME of a log has no priority */
		event->ctx->priority = event->priority;
	if (!begin(inversions, event) && !note_give_back(inversions, event) &&
	    inversions->nr_open > 0)
		find_culprit(inversions, event);
	if (inversions->nr_ending > 0)
		end(inversions, event);
}
