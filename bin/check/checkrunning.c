/* SPDX-License-Identifier: MIT */
#include "check/checkrunning.h"

#include "trace/native.h"
#include "trace/source.h"

#define UNKNOWN UINT32_MAX /* no thread has this handle */

static uint32_t id_of(const struct raw_event *event)
{
	return event->id & 0xFFFF;
}

static bool is_of_thread(const struct raw_event *event)
{
	return event->context != CONTEXT_INTERRUPT && event->context != CONTEXT_INITIALIZE;
}

/* TraceX ignores the next thread if the suspended thread itself has the next event; see doc/reports.md. */
static bool goes_on(const struct raw_event *suspend, const struct raw_event *next)
{
	return suspend->context == suspend->info[0] && next->context == suspend->context;
}

/*
 * Return the context that runs after the last event of a thread.  Return UNKNOWN if later events decide this, or if
 * the last event is not of a thread.
 */
static uint32_t runs_after(const struct raw_event *last, const struct raw_event *event)
{
	if (!is_of_thread(last))
		return UNKNOWN;
	switch (id_of(last)) {
	case NATIVE_THREAD_SUSPEND:
		return goes_on(last, event) ? last->context : last->info[3];
	case NATIVE_THREAD_RESUME:
		return last->info[3] ? last->info[3] : UNKNOWN;
	case NATIVE_THREAD_RELINQUISH:
		return last->info[1] ? last->info[1] : UNKNOWN;
	default:
		return is_of_thread(event) ? event->context : last->context;
	}
}

/* Check the time between the last event and this event. */
static void check_between(struct check_running *running, const struct raw_event *event)
{
	const struct raw_event *last = &running->last;
	uint32_t runs = runs_after(last, event);

	if (id_of(last) == NATIVE_THREAD_SUSPEND && last->info[3] == last->info[0] &&
	    !goes_on(last, event))
		findings_add(running->findings, RULE_suspend_self, running->last_offset + 28,
			     "the thread 0x%x is suspended, and the event names the same thread as "
			     "the next one: "
			     "TraceX shows the wait as run time of the thread",
			     last->info[0]);
	if (runs == UNKNOWN)
		return;
	running->nr_added += runs != last->context && runs != event->context;
	if (running->has_thread && runs != 0 && event->stamp != last->stamp &&
	    handles_get(running->handles, runs)->is_nobody)
		findings_add(running->findings, RULE_no_thread_time, running->last_offset + 12,
			     "the time after this event belongs to the object 0x%x, which stands "
			     "for no thread",
			     runs);
}

/* Keep track of the threads that wait. */
static void check_sleeper(struct check_running *running, const struct raw_event *event,
			  uint64_t offset)
{
	uint32_t thread = event->info[0];
	bool is_resume = id_of(event) == NATIVE_THREAD_RESUME;

	if (!is_of_thread(event)) {
		if (is_resume)
			handles_get(running->handles, thread)->is_asleep = false;
		return;
	}
	if (is_resume && thread != event->context && handles_get(running->handles, event->context)->is_asleep)
		findings_add(running->findings, RULE_resume_sleeper, offset,
			     "the thread 0x%x resumes the thread 0x%x, but it is suspended itself: "
			     "TraceX shows its "
			     "wait as run time",
			     event->context, thread);
	if (is_resume)
		handles_get(running->handles, thread)->is_asleep = false;
	else if (id_of(event) == NATIVE_THREAD_SUSPEND && thread == event->context)
		handles_get(running->handles, thread)->is_asleep = true;
	else
		handles_get(running->handles, event->context)->is_asleep = false;
}

static void count_change(struct check_running *running, const struct raw_event *event)
{
	struct handle *thread = handles_get(running->handles, event->info[0]);

	if (thread->nr_changes++ == 0)
		thread->first_change = running->nr_events;
}

void check_running_event(struct check_running *running, const struct raw_event *event,
			 uint64_t offset)
{
	uint32_t id = id_of(event);

	if (running->nr_events > 0) {
		check_between(running, event);
		if (id_of(&running->last) == NATIVE_THREAD_SUSPEND &&
		    goes_on(&running->last, event))
			handles_get(running->handles, event->context)->is_asleep = false;
	}
	check_sleeper(running, event, offset);
	if (is_of_thread(event) && id != NATIVE_RUNNING &&
	    !handles_get(running->handles, event->context)->is_nobody)
		running->has_thread = true;
	if (id == NATIVE_THREAD_RESUME || id == NATIVE_THREAD_SUSPEND)
		count_change(running, event);
	running->last = *event;
	running->last_offset = offset;
	running->nr_events++;
}

bool check_running_overruns(const struct check_running *running, const struct handle *thread)
{
	/* The time before the first change is a period, too. */
	uint64_t nr_periods = (uint64_t)thread->nr_changes + (thread->first_change > 0);
	bool is_thread = thread->is_registered ? thread->is_thread : thread->is_context;

	return is_thread && thread->nr_changes > 0 &&
	       8 * nr_periods > 4 * ((uint64_t)running->nr_events + running->nr_added);
}
