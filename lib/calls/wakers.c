/* SPDX-License-Identifier: MIT */
#include "calls/wakers.h"

#include <errno.h>

#include "calls/rules.h"

#define STATE_COMPLETED 1
#define STATE_TERMINATED 2

static void resume(struct px_translation *to, struct px_call_object *thread,
		   const struct px_call_object *waker)
{
	struct px_entry *entry = px_entries_add_by(to, waker, PX_NATIVE_RESUME);

	entry->info[0] = thread->object.handle;
	entry->info[1] = thread->wait.state;
	entry->info[3] = entry->context;
	entry->handles = 1 << 0 | 1 << 3;
	thread->is_suspended = false;
}

static void suspend(struct px_translation *to, struct px_call_object *thread, uint32_t priority)
{
	struct px_entry *entry = px_entries_add(to, thread->object.handle, priority,
						PX_NATIVE_SUSPEND);

	entry->info[0] = thread->object.handle;
	entry->info[1] = thread->wait.state;
	entry->info[3] = PX_IDLE_THREAD;
	entry->handles = 1 << 0 | 1 << 3;
	to->open = to->nr_entries;
	thread->is_suspended = true;
}

void px_wakers_wake(struct px_call_object *thread, struct px_translation *to)
{
	if (thread && thread->is_suspended)
		resume(to, thread, NULL);
}

void px_wakers_lose(struct px_wakers *waits)
{
	waits->lost_at = ++waits->now;
}

void px_wakers_start_call(struct px_wakers *waits, struct px_call_read *call)
{
	waits->now++;
	call->was_suspended = call->self->is_suspended;
	if (!call->ends)
		px_wakers_wake(call->self, call->to);
}

/* Return the thread that released the object of the wait, or NULL if this thread is unknown. */
static struct px_call_object *waker_of(struct px_wakers *waits, const struct px_call_read *call,
				       const struct px_call_object_wait *wait)
{
	const struct px_call_object *object = call->object;
	/* If the thread was sending, its waker is a receiver. */
	unsigned int i = call->native == PX_NATIVE_QUEUE_SEND;
	struct px_call_object *waker;
	bool is_exclusive;

	if (!object || (call->has_failed && call->first.of_object.result != EOWNERDEAD))
		return NULL;
	/*
	 * The waker released the object during the wait.  If the object is a mutex, the waker may also have released it
	 * just before the wait started.  This counts only if no thread has acquired the mutex since then.
	 */
	is_exclusive = object->object.type == PX_TXTB_MUTEX;
	if (object->released_at[i] <= (is_exclusive ? object->acquired_at : wait->began) ||
	    object->released_at[i] <= waits->lost_at)
		return NULL;
	waker = px_call_objects_of(waits->objects, object->releaser[i]);
	return waker == call->self ? NULL : waker;
}

/*
 * Add the entries for the end of the current wait, or of an earlier wait that a signal handler interrupted.  If the
 * record of the start of the wait is lost, the thread is not suspended.  Then the idle thread gets a RUNNING entry
 * instead of RESUME.
 */
void px_wakers_show_end(struct px_wakers *waits, struct px_call_read *call)
{
	struct px_call_object *self = call->self;
	const struct px_call_object_wait *wait = &self->wait;
	struct px_call_object *waker;
	struct px_entry *entry;

	if (self->depth > 0 && self->outer.call == (uint32_t)call->call &&
	    (!self->is_suspended || self->wait.call != (uint32_t)call->call)) {
		self->depth = 0; /* the program left the handler by longjmp() */
		wait = &self->outer;
	}
	waker = waker_of(waits, call, wait);
	if (self->is_suspended)
		resume(call->to, self, waker);
	else
		px_entries_add_by(call->to, NULL, PX_TXTB_RUNNING);
	if (call->native == 0) {
		px_entries_add_plainly(call->record, call->data, call->length, call->to);
		return;
	}
	call->to->own = call->to->nr_entries;
	entry = px_entries_add(call->to, self->object.handle, call->record->priority,
			       PX_TXTB_RUNNING);
	entry->info[0] = call->object ? call->object->object.handle : 0;
	entry->info[1] = call->facts->state;
	entry->info[2] = waker ? waker->object.handle : 0;
	entry->handles = (entry->info[0] ? 1 << 0 : 0) | (entry->info[2] ? 1 << 2 : 0);
	call->to->is_native = true;
}

static void release(struct px_wakers *waits, struct px_call_read *call, unsigned int i)
{
	call->object->releaser[i] = call->self->object.handle;
	call->object->released_at[i] = waits->now;
}

void px_wakers_wake_joiner(struct px_wakers *waits, struct px_call_read *call)
{
	struct px_call_object *joiner = px_call_objects_of(waits->objects, call->self->joiner);

	release(waits, call, 0);
	if (joiner && joiner != call->self && joiner->is_suspended &&
	    joiner->wait.object == call->self->object.handle)
		resume(call->to, joiner, call->self);
}

void px_wakers_end_thread(struct px_call_read *call, struct px_entry *own)
{
	if (own->info[1] != STATE_TERMINATED)
		own->info[1] = STATE_COMPLETED;
	call->self->wait = (struct px_call_object_wait){.state = own->info[1], .call = PX_CALLS};
	call->self->is_suspended = true;
	call->to->open = call->to->nr_entries;
}

static bool is_once(enum px_call call)
{
	return call == PX_CALL_pthread_once || call == PX_CALL_call_once;
}

/*
 * Store in the object that this call releases or acquires it, so that later waits find their waker.  Call this function
 * after waker_of() has searched for the waker of this call.
 */
static void take_effect(struct px_wakers *waits, struct px_call_read *call)
{
	if (!call->object || (call->has_failed && call->first.of_object.result != EOWNERDEAD))
		return;
	switch (call->native) {
	case PX_NATIVE_MUTEX_GET:
	case PX_NATIVE_SEMAPHORE_GET:
		if (!call->begins)
			call->object->acquired_at = waits->now;
		return;
	case PX_NATIVE_MUTEX_PUT:
		if (call->first.of_object.count <= 1)
			release(waits, call, 0);
		return;
	case PX_NATIVE_SEMAPHORE_PUT:
	case PX_NATIVE_EVENT_FLAGS_SET:
		release(waits, call, 0);
		return;
	case PX_NATIVE_EVENT_FLAGS_GET:
		/*
		 * The last thread at a barrier wakes up all the others.  After pthread_once() or
		 * call_once(), the thread that ran the function wakes up the others.
		 */
		if ((call->call == PX_CALL_pthread_barrier_wait && !call->ends) ||
		    (is_once(call->call) && !call->begins && px_call_read_value(call) != 0))
			release(waits, call, 0);
		return;
	case PX_NATIVE_QUEUE_SEND:
	case PX_NATIVE_QUEUE_RECEIVE:
		if (!call->begins)
			release(waits, call, call->native == PX_NATIVE_QUEUE_RECEIVE);
		return;
	default:
		return;
	}
}

/*
 * Follow the start and the end of signal handlers.  If the thread was suspended before a handler,
 * suspend it again after the handler.
 */
static void enter_handler(struct px_call_read *call)
{
	struct px_call_object *self = call->self;

	if (call->native == PX_NATIVE_ISR_ENTER && self->depth > 0) {
		self->depth++;
	} else if (call->native == PX_NATIVE_ISR_ENTER && call->was_suspended) {
		self->depth = 1;
		self->outer = self->wait;
	} else if (call->native == PX_NATIVE_ISR_EXIT && self->depth > 0 && --self->depth == 0) {
		self->wait = self->outer;
		suspend(call->to, self, call->record->priority);
	}
}

static void begin_wait(struct px_wakers *waits, struct px_call_read *call)
{
	call->self->wait = (struct px_call_object_wait){
		.began = waits->now,
		.call = (uint32_t)call->call,
		.state = call->facts->state ? call->facts->state : 12,
		.object = call->object ? call->object->object.handle : 0};
	if (call->object && call->object->object.type == PX_TXTB_THREAD)
		call->object->joiner = call->self->object.handle;
	suspend(call->to, call->self, call->record->priority);
}

void px_wakers_follow(struct px_wakers *waits, struct px_call_read *call)
{
	take_effect(waits, call);
	enter_handler(call);
	if (call->begins)
		begin_wait(waits, call);
}
