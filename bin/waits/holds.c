/* SPDX-License-Identifier: MIT */
#include "waits/holds.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "trace/calls.h"
#include "trace/native.h"
#include "trace/states.h"
#include "waits/holder_watch.h"
#include "waits/periods.h"
#include "waits/wait_objects.h"

const struct hold *waits_hold(const struct waiter *thread, const struct awaited *object)
{
	const struct hold *hold = thread->holds;

	while (hold && hold->object != object)
		hold = hold->next_of_thread;
	return hold;
}

const struct hold *waits_holder(struct waits *waits, unsigned int handle)
{
	const uint64_t known = map_find(&waits->awaited_of, handle);

	return known ? ((const struct awaited *)(uintptr_t)known)->holds : NULL;
}

struct waiter *waits_holder_for(struct waits *waits, const struct wait *wait)
{
	const struct txtrace_object *object = source_object(waits->source, wait->object->handle);

	if (wait->object->kind && object && object->type == OBJECT_THREAD &&
	    wait->state == STATE_SUSPENDED)
		return wait_objects_thread(waits, object->handle);
	if (!wait->object->is_lock)
		return NULL;
	for (const struct hold *hold = wait->object->holds; hold; hold = hold->next_of_object)
		if (hold->thread != wait->thread)
			return hold->thread;
	return wait->object->is_ordered && waits_hold(wait->thread, wait->object) ? wait->thread : NULL;
}

static void free_hold(struct hold *hold)
{
	struct hold **of_thread = &hold->thread->holds, **of_object = &hold->object->holds;

	while (*of_thread != hold)
		of_thread = &(*of_thread)->next_of_thread;
	*of_thread = hold->next_of_thread;
	while (*of_object != hold)
		of_object = &(*of_object)->next_of_object;
	*of_object = hold->next_of_object;
	free(hold);
}

void holds_end_period(const struct waits *waits, struct hold *hold, int64_t at_ns)
{
	if (hold->since_ns == LONG_AGO)
		hold->spent.times = (struct state_times){{0}};
	else
		periods_end(hold->thread, waits->now_ns, at_ns - hold->since_ns, &hold->spent);
}

static void give(struct waits *waits, struct hold *hold, int64_t at_ns)
{
	holds_end_period(waits, hold, at_ns);
	holder_watch_given(hold, at_ns);
	if (waits->listener->given)
		waits->listener->given(waits->listener->arg, hold, at_ns);
	free_hold(hold);
}

static void drop(struct waits *waits, struct hold *hold)
{
	holder_watch_given(hold, waits->now_ns);
	if (waits->listener->dropped)
		waits->listener->dropped(waits->listener->arg, hold, waits->now_ns);
	free_hold(hold);
}

void holds_drop_all(struct waits *waits, struct awaited *object)
{
	while (object->holds)
		drop(waits, object->holds);
}

static struct hold *add_hold(struct waiter *thread, struct awaited *object)
{
	struct hold *hold = must(calloc(1, sizeof(*hold)));

	*hold = (struct hold){.thread = thread,
			      .object = object,
			      .since_ns = LONG_AGO,
			      .depth = 1,
			      .next_of_thread = thread->holds,
			      .next_of_object = object->holds};
	thread->holds = object->holds = hold;
	return hold;
}

/* Only events of other threads show this hold of a log. */
static bool is_named(const struct waits *waits, const struct hold *hold)
{
	return hold->since_ns == LONG_AGO && !hold->is_own && !waits->source->file.foreign;
}

static bool is_unrecorded(const struct waits *waits, const struct hold *hold)
{
	return is_named(waits, hold) && hold->is_foretold && !hold->is_doubtful;
}

void holds_note_event(const struct waits *waits, struct waiter *thread, const struct event *event)
{
	for (struct hold *hold = thread->holds; hold; hold = hold->next_of_thread) {
		if (!is_named(waits, hold) || (event->is_call && event->call.object == hold->object->handle))
			continue;
		if (hold->is_named_again && waits->listener->kept)
			waits->listener->kept(waits->listener->arg, hold);
		hold->is_named_again = false;
		hold->is_doubtful = true;
		hold->doubted_ns = event->time_ns;
	}
}

/* The event of the thread itself shows that it took the object. */
static void confirm_taken(struct waits *waits, struct hold *hold, const struct event *event,
			  bool has_waited)
{
	hold->address = event->code;
	hold->counts = waits->counts;
	hold->priority = hold->thread->priority;
	holder_watch_taken(hold, event->time_ns);
	if (waits->listener->taken)
		waits->listener->taken(waits->listener->arg, hold, has_waited);
}

void holds_take(struct waits *waits, struct waiter *thread, struct awaited *object,
		const struct event *event, bool is_shared, bool has_waited)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	object->is_tracked = true;
	if (hold && is_unrecorded(waits, hold)) {
		hold->since_ns = hold->learned_ns;
		confirm_taken(waits, hold, event, has_waited);
		return;
	}
	if (hold) {
		hold->depth++;
		return;
	}
	for (struct hold *at = object->is_ordered ? object->holds : NULL, *next; at; at = next) {
		next = at->next_of_object;
		if (!is_shared || !at->is_shared)
			drop(waits, at);
	}
	hold = add_hold(thread, object);
	hold->since_ns = event->time_ns;
	periods_begin(thread, waits->now_ns, &hold->spent);
	hold->is_shared = is_shared;
	confirm_taken(waits, hold, event, has_waited);
}

/*
 * An event names a holder that the model does not know.  The threads of a log record in parallel, so the holder may
 * already have given the object back.  So the function ignores the event of a log in two cases: the object has a known
 * holder, or a thread has already recorded that it took the object or gave the object back.  The events of a ThreadX
 * buffer are in order.  So the event of a buffer is right, and any other holder must have given the object back.
 */
static void learn_holder(struct waits *waits, const struct event *event, struct waiter *thread,
			 struct awaited *object, unsigned int depth)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	if (hold && is_named(waits, hold) && hold->is_doubtful && event->context != thread->context &&
	    wait_objects_thread(waits, event->context)->before_ns > hold->doubted_ns)
		hold->is_named_again = true;
	if (event->is_call && (object->holds || object->is_tracked))
		return;
	if (hold)
		return;
	holds_drop_all(waits, object);
	hold = add_hold(thread, object);
	hold->depth = depth > 0 ? depth : 1;
	hold->learned_ns = event->time_ns;
	hold->is_own = event->context == thread->context;
	hold->is_foretold = thread->last_ns != LONG_AGO;
	periods_begin(hold->thread, waits->now_ns, &hold->spent);
	hold->priority = thread->priority;
	if (waits->listener->learned)
		waits->listener->learned(waits->listener->arg, hold, event->time_ns);
}

static void want(struct waits *waits, const struct waiter *thread, const struct awaited *object,
		 const struct event *event)
{
	if (waits->listener->wanted)
		waits->listener->wanted(waits->listener->arg, thread, object, event->time_ns,
					event->code);
}

void holds_drop_stale(struct waits *waits, const struct waiter *thread, const struct awaited *object)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	if (hold && !is_unrecorded(waits, hold))
		drop(waits, hold);
}

bool holds_was_got(const struct event *event)
{
	int result = call_result(event);

	return result == 0 || result == EOWNERDEAD;
}

/* The owner is a thread that is not traced, or not known by its number: then the holder is not known. */
#define NO_THREAD 0x01FFFFFFu

void holds_get_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		      struct awaited *object)
{
	unsigned int owner = event_word(event, 2);
	bool can_wait = event_word(event, 1) != 0;
	bool is_begin = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;

	object->is_lock = object->is_ordered = true;
	if (owner != 0 && owner != NO_THREAD)
		learn_holder(waits, event, wait_objects_thread(waits, owner), object,
			     event_word(event, 3));
	if (can_wait)
		want(waits, thread, object, event);
	if (event->is_call && !is_begin && owner == 0 && holds_was_got(event))
		holds_drop_stale(waits, thread, object);
	if (event->is_call ? !is_begin && holds_was_got(event) : owner == 0 || owner == thread->context)
		holds_take(waits, thread, object, event, false, false);
}

void holds_set_signal(struct awaited *object, const struct event *event, struct waiter *thread)
{
	object->signal = (struct signal){object->signal.nr + 1, event->time_ns, thread, event->name,
					 object->nr_waiters};
	object->wake[object->signal.nr % WAKES] = object->signal;
}

void holds_put_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		      struct awaited *object)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);
	unsigned int count = event_word(event, 2);

	object->is_lock = object->is_ordered = true;
	if (!holds_was_got(event))
		return;
	holds_set_signal(object, event, thread);
	if (!hold && count > 1)
		learn_holder(waits, event, thread, object, count - 1);
	else if (hold && count > 1)
		hold->depth = count - 1;
	else if (hold && hold->depth > 1 && count != 1)
		hold->depth--;
	else if (hold)
		give(waits, hold, event->time_ns);
	object->is_tracked = true;
}

static bool is_rwlock(const struct event *event)
{
	return strncmp(event->name, "pthread_rwlock", strlen("pthread_rwlock")) == 0;
}

bool holds_is_shared(const struct event *event)
{
	return is_rwlock(event) && strstr(event->name, "rdlock");
}

void holds_get_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			  struct awaited *object)
{
	bool is_begin = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;

	if (is_rwlock(event)) {
		object->is_lock = object->is_ordered = true;
		if (event_word(event, 1) != 0)
			want(waits, thread, object, event);
	}
	if (!object->is_signal &&
	    (event->is_call ? !is_begin && holds_was_got(event) : event_word(event, 2) > 0))
		holds_take(waits, thread, object, event, holds_is_shared(event), false);
}

/*
 * If a thread posts a semaphore that it has not taken, the program uses the semaphore to signal other threads, and not
 * as a lock.  But if the semaphore was a lock and the trace has gaps, a gap may have hidden that the thread took it.
 */
void holds_put_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			  struct awaited *object)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	if (!holds_was_got(event))
		return;
	holds_set_signal(object, event, thread);
	if (hold && hold->depth > 1) {
		hold->depth--;
	} else if (hold) {
		object->is_lock = true;
		give(waits, hold, event->time_ns);
	} else if (!is_rwlock(event) && !(object->is_lock && waits->nr_gaps > 0)) {
		object->is_signal = true;
		object->is_lock = false;
		holds_drop_all(waits, object);
	}
}


void holds_forget(struct waits *waits, struct awaited *object)
{
	holds_drop_all(waits, object);
	object->is_tracked = false;
}

void holds_free(struct awaited *object)
{
	while (object->holds)
		free_hold(object->holds);
}
