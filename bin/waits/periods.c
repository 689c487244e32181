/* SPDX-License-Identifier: MIT */
#include "waits/periods.h"

#include <stdio.h>

#include "base/units.h"

void periods_begin(const struct waiter *thread, int64_t at_ns, struct period *period)
{
	*period = (struct period){.before = {{0}}};
	if (thread->sched)
		period->before = thread_states_until(thread->sched, at_ns);
}

/* Return how much of a period is before the first record of the thread, or after its end. */
static int64_t outside_life(const struct sched_thread *thread, int64_t from_ns, int64_t until_ns)
{
	int64_t ns = 0;

	if (thread->begin_ns > from_ns)
		ns += thread->begin_ns - from_ns;
	if (thread->has_ended && thread->end_ns < until_ns)
		ns += until_ns - thread->end_ns;
	return ns;
}

void periods_end(const struct waiter *thread, int64_t at_ns, int64_t length_ns, struct period *period)
{
	struct state_times now = {{0}};
	int64_t rest_ns;

	if (thread->sched)
		now = thread->has_died ? thread->died_times : thread_states_until(thread->sched, at_ns);
	period->times = state_times_between(&period->before, &now);
	rest_ns = length_ns - state_times_sum(&period->times);
	if (rest_ns == 0)
		return;
	if (thread->sched && rest_ns == outside_life(thread->sched, at_ns - length_ns, at_ns))
		units_add(&period->times.ns[THREAD_UNKNOWN], rest_ns);
	else
		period->times = (struct state_times){.ns = {[THREAD_UNKNOWN] = length_ns}};
}

/* The thread was preempted in this period.  Note the longest such time of each of its holds. */
static void note_preempted(struct waiter *waiter, const struct sched_thread *thread, int64_t from_ns, int64_t until_ns)
{
	for (struct hold *hold = waiter->holds; hold; hold = hold->next_of_thread) {
		int64_t ns = until_ns - (hold->since_ns > from_ns ? hold->since_ns : from_ns);

		if (ns <= hold->preempted_ns)
			continue;
		hold->preempted_ns = ns;
		hold->taker = thread->taker;
	}
}

void periods_report(void *arg, const struct sched_thread *thread, enum thread_state state, int64_t from_ns,
		    int64_t until_ns)
{
	const struct waits *waits = arg;
	struct waiter *waiter = (struct waiter *)(uintptr_t)map_find(&waits->waiter_of, thread->context);

	if (waiter && thread->context && state == THREAD_PREEMPTED)
		note_preempted(waiter, thread, from_ns, until_ns);

	if (waits->listener->spent)
		waits->listener->spent(waits->listener->arg, thread, thread->context ? waiter : NULL, state, from_ns,
				       until_ns);
}

const char *periods_thread_name(const struct waits *waits, const struct sched_thread *thread, char text[PERIODS_NAME])
{
	if (thread->context)
		return source_context_name(waits->source, thread->context);
	snprintf(text, PERIODS_NAME, "%s %d", *thread->name ? thread->name : "thread", (int)thread->tid);
	return text;
}

void periods_find_thread(struct waits *waits, struct waiter *thread)
{
	const struct txtrace_object *object;

	if (thread->sched || !waits->states.has_records || thread->context == 0)
		return;
	object = source_object(waits->source, thread->context);
	if (object && object->type == OBJECT_THREAD && thread_states_has_records(&waits->states, object->pid))
		thread->sched = thread_states_get(&waits->states, object->pid, object->tid);
	if (thread->sched)
		thread->sched = thread_states_set_context(&waits->states, thread->sched, thread->context);
}

/* Find the signal that woke the thread: the last one by the waker before the thread ran again. */
static void find_wake(struct waits *waits, struct waiter *thread)
{
	const struct awaited *object = thread->wait.object;
	struct sched_thread *sched = thread->sched;

	for (uint64_t nr = object->signal.nr; nr > 0 && nr + WAKES > object->signal.nr; nr--) {
		const struct signal *wake = &object->wake[nr % WAKES];

		if (wake->by != thread->wait.waker || wake->at_ns > sched->slept_until_ns)
			continue;
		if (wake->at_ns >= thread->wait.begin_ns)
			thread_states_woken(&waits->states, sched, wake->at_ns);
		return;
	}
}

void periods_end_wait(struct waits *waits, struct waiter *thread, int64_t at_ns)
{
	struct wait *wait = &thread->wait;

	if (thread->sched && wait->waker)
		find_wake(waits, thread);
	if (thread->sched)
		thread_states_wait_ends(&waits->states, thread->sched);
	periods_end(thread, waits->now_ns, at_ns - wait->begin_ns, &wait->spent);
}
