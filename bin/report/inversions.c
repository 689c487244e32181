/* SPDX-License-Identifier: MIT */
#include "report/inversions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"

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

/* A third thread keeps the owner from its CPU.  NULL, and a thread that may do so, do nothing. */
static void blame(struct inversions *inversions, struct inversion *inversion, const struct context *third)
{
	if (!third || third == inversion->owner || inversion->culprit ||
	    inversion->state != INVERSION_OPEN || priority_of(third) <= inversion->blocked_priority)
		return;
	inversion->culprit = third;
	inversions->nr_deterministic -= inversion->counts;
	inversions->nr_other += inversion->counts;
	set_state(inversions, inversion, INVERSION_ENDS);
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
		.lacks_since = owner->is_preempted ? event->at : -1,
		.counts = event->counts,
	};
	keep(inversions, inversion);
	inversions->nr_open++;
	if (owner->is_preempted)
		blame(inversions, inversion, inversions->on_cpu[owner->lost_cpu]);
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

		if (event->priority > inversion->blocked_priority)
			blame(inversions, inversion, event->ctx);
	}
}

/* Scheduling records. */

static void end_lack(struct inversion *inversion, int64_t at)
{
	if (inversion->lacks_since >= 0)
		units_add(&inversion->without_cpu, at - inversion->lacks_since);
	inversion->lacks_since = -1;
}

static void take_in(struct inversions *inversions, const struct report_event *event)
{
	unsigned int cpu = cpu_index(event->cpu);

	inversions->on_cpu[cpu] = event->ctx;
	event->ctx->is_preempted = false;
	for (size_t i = 0; i < inversions->nr_open; i++) {
		struct inversion *inversion = &inversions->open[i];

		if (inversion->owner == event->ctx)
			end_lack(inversion, event->at);
		else if (inversion->lacks_since >= 0 && inversion->owner->lost_cpu == cpu)
			blame(inversions, inversion, event->ctx);
	}
}

static void take_out(struct inversions *inversions, const struct report_event *event)
{
	unsigned int cpu = cpu_index(event->cpu);

	if (inversions->on_cpu[cpu] == event->ctx)
		inversions->on_cpu[cpu] = NULL;
	event->ctx->is_preempted = event->is_ready;
	event->ctx->lost_cpu = cpu;
	for (size_t i = 0; event->is_ready && i < inversions->nr_open; i++)
		if (inversions->open[i].owner == event->ctx)
			inversions->open[i].lacks_since = event->at;
}

/* From now on it is not known which threads have a CPU. */
static void forget(struct inversions *inversions, int64_t at)
{
	memset(inversions->on_cpu, 0, sizeof(inversions->on_cpu));
	for (size_t i = 0; i < inversions->contexts->nr_contexts; i++)
		inversions->contexts->ctx[i]->is_preempted = false;
	for (size_t i = 0; i < inversions->nr_open; i++)
		end_lack(&inversions->open[i], at);
}

static void take_record(struct inversions *inversions, const struct report_event *event)
{
	inversions->has_records |= event->sched != SCHED_CPU_TIME;
	if (event->sched == SCHED_GAP_BEGINS || event->sched == SCHED_STOP)
		forget(inversions, event->at);
	else if (event->sched == SCHED_IN && event->context != CONTEXT_IDLE)
		take_in(inversions, event);
	else if (event->sched == SCHED_OUT && event->context != CONTEXT_IDLE)
		take_out(inversions, event);
	else if (event->sched == SCHED_IN)
		inversions->on_cpu[cpu_index(event->cpu)] = NULL;
}

/* An inversion ends when the waiting thread has an event again. */
static void end(struct inversions *inversions, const struct report_event *event)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < inversions->nr_open; i++) {
		struct inversion *inversion = &inversions->open[i];

		if (inversion->state == INVERSION_ENDS && inversion->blocked == event->ctx) {
			end_lack(inversion, event->at);
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
	bool begins;

	if (event->sched != SCHED_NONE) {
		take_record(inversions, event);
		return;
	}
	if (event->type == POSIX_TRACE_OVERFLOW)
		forget(inversions, event->at);
	if (event->context >= CONTEXT_INITIALIZE || event->context == CONTEXT_IDLE)
		return;
	if (event->priority >= 0 || !event->is_made) /* an inserted RESUME of a log has no priority */
		event->ctx->priority = event->priority;
	begins = begin(inversions, event);
	if (!begins && !note_give_back(inversions, event) && inversions->nr_open > 0 && !inversions->has_records)
		find_culprit(inversions, event);
	/*
	 * With records, the third thread may be known at once.  The thread asks for the mutex, and is suspended; the
	 * reader has made an event of its own for the latter.  Neither ends the inversion.
	 */
	if (inversions->nr_ending > 0 && !(inversions->has_records && (begins || event->is_made)))
		end(inversions, event);
}
