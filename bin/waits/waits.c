/* SPDX-License-Identifier: MIT */
#include "waits/waits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "trace/calls.h"
#include "trace/native.h"
#include "trace/states.h"
#include "waits/wait_objects.h"

#define NR_NATIVES 1024
#define NET_FIRST 300 /* NetX's events begin here */

/* Locks. */

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

static void give(struct waits *waits, struct hold *hold, int64_t at_ns)
{
	if (waits->listener->given)
		waits->listener->given(waits->listener->arg, hold, at_ns);
	free_hold(hold);
}

static void drop(struct waits *waits, struct hold *hold)
{
	if (waits->listener->dropped)
		waits->listener->dropped(waits->listener->arg, hold, waits->now_ns);
	free_hold(hold);
}

static void drop_all(struct waits *waits, struct awaited *object)
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

/*
 * A thread takes an object.  If another thread still holds this lock, the event of its unlock is missing: the event was
 * lost, or a process that is not traced unlocked it.
 */
static void take(struct waits *waits, struct waiter *thread, struct awaited *object,
		 const struct event *event, bool is_shared, bool has_waited)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	object->is_tracked = true;
	/*
	 * In a log, an event of another thread can name this owner before the owner itself records that it took the
	 * lock.
	 */
	if (hold && hold->since_ns == LONG_AGO && event->is_call) {
		drop(waits, hold);
		hold = NULL;
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
	hold->address = event->address;
	hold->is_shared = is_shared;
	hold->counts = waits->counts;
	hold->priority = thread->priority;
	if (waits->listener->taken)
		waits->listener->taken(waits->listener->arg, hold, has_waited);
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
	struct hold *hold;

	if (event->is_call && (object->holds || object->is_tracked))
		return;
	if (waits_hold(thread, object))
		return;
	drop_all(waits, object);
	hold = add_hold(thread, object);
	hold->depth = depth > 0 ? depth : 1;
	hold->priority = thread->priority;
	if (waits->listener->learned)
		waits->listener->learned(waits->listener->arg, hold, event->time_ns);
}

static void want(struct waits *waits, const struct waiter *thread, const struct awaited *object,
		 const struct event *event)
{
	if (waits->listener->wanted)
		waits->listener->wanted(waits->listener->arg, thread, object, event->time_ns,
					event->address);
}

static bool was_got(const struct event *event)
{
	int result = call_result(event);

	return result == 0 || result == EOWNERDEAD;
}

static void get_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		      struct awaited *object)
{
	unsigned int owner = event_word(event, 2);
	bool can_wait = event_word(event, 1) != 0;
	bool is_begin = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;

	object->is_lock = object->is_ordered = true;
	if (owner != 0)
		learn_holder(waits, event, wait_objects_thread(waits, owner), object,
			     event_word(event, 3));
	if (can_wait)
		want(waits, thread, object, event);
	if (event->is_call ? !is_begin && was_got(event) : owner == 0 || owner == thread->context)
		take(waits, thread, object, event, false, false);
}

static void set_signal(struct awaited *object, const struct event *event, struct waiter *thread)
{
	object->signal = (struct signal){object->signal.nr + 1, event->time_ns, thread, event->name,
					 object->nr_waiters};
}

static void put_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		      struct awaited *object)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);
	unsigned int count = event_word(event, 2);

	object->is_lock = object->is_ordered = true;
	if (!was_got(event))
		return;
	set_signal(object, event, thread);
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

static bool is_shared(const struct event *event)
{
	return is_rwlock(event) && strstr(event->name, "rdlock");
}

static void get_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			  struct awaited *object)
{
	bool is_begin = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;

	if (is_rwlock(event)) {
		object->is_lock = object->is_ordered = true;
		if (event_word(event, 1) != 0)
			want(waits, thread, object, event);
	}
	if (!object->is_signal &&
	    (event->is_call ? !is_begin && was_got(event) : event_word(event, 2) > 0))
		take(waits, thread, object, event, is_shared(event), false);
}

/*
 * If a thread posts a semaphore that it has not taken, the program uses the semaphore to signal other threads, and not
 * as a lock.
 */
static void put_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			  struct awaited *object)
{
	struct hold *hold = (struct hold *)waits_hold(thread, object);

	if (!was_got(event))
		return;
	set_signal(object, event, thread);
	if (hold && hold->depth > 1) {
		hold->depth--;
	} else if (hold) {
		object->is_lock = true;
		give(waits, hold, event->time_ns);
	} else if (!is_rwlock(event)) {
		object->is_signal = true;
		object->is_lock = false;
		drop_all(waits, object);
	}
}

/* Waits. */

/*
 * The contents of the words of ThreadX's events.  learn_natives() compares the labels of the words once, because a
 * comparison for each event takes too long.
 */
static struct native {
	bool has_object;	   /* word 0 is the handle of an object */
	unsigned char socket_word; /* 1 + the number of the word with a socket, or 0 */
} natives[NR_NATIVES];

static void learn_natives(void)
{
	for (unsigned int native = 1; native < NR_NATIVES; native++) {
		natives[native].has_object = label_is_object(native_label(native, 0));
		for (unsigned char i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label && strstr(label, "socket_ptr"))
				natives[native].socket_word = 1 + i;
		}
	}
}

/* Return the call that brought the thread into this state.  Its object is 0 if the thread waits for no object. */
static struct service service_of(const struct event *event, const struct waiter *thread,
				 unsigned int state)
{
	const char *label = native_label(thread->of_object.native, 0);
	struct service none = thread->last;

	none.object = 0;
	if (event->of) {
		none.object = event->of->call.object;
		return none;
	}
	if (state == STATE_NET) {
		struct service service = thread->of_socket.object ? thread->of_socket : none;

		if (strncmp(service.name, "NX_TRACE_INTERNAL", strlen("NX_TRACE_INTERNAL")) == 0)
			service.name = ""; /* leave out the name, because the thread did not call this service */
		return service;
	}
	return states[state].label && label && strcmp(label, states[state].label) == 0 ?
		       thread->of_object :
		       none;
}

/* Return the thread that must act before the waiter can go on, or NULL. */
static struct waiter *holder_of(struct waits *waits, const struct wait *wait)
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
	return NULL;
}

static void report_end(struct waits *waits, const struct wait *wait)
{
	struct waiter *thread = wait->thread;

	thread->recent[thread->nr_recent++ % WAITS_RECENT] =
		(struct stretch){wait->begin_ns, wait->end_ns, wait->object, wait->service};
	if (waits->listener->ended)
		waits->listener->ended(waits->listener->arg, wait);
}

static void forget_wait(struct waits *waits, struct waiter *thread)
{
	if (!thread->waits)
		return;
	thread->waits = false;
	thread->wait.object->nr_waiters--;
	waits->nr_broken++;
	if (waits->listener->broken)
		waits->listener->broken(waits->listener->arg, &thread->wait, waits->now_ns);
}

static void begin_wait(struct waits *waits, const struct event *event)
{
	struct waiter *thread = wait_objects_thread(waits, event_word(event, 0));
	unsigned int state = event_word(event, 1);
	struct wait *wait = &thread->wait;
	struct service service;

	forget_wait(waits, thread);
	if (!state_of(state))
		return;
	service = service_of(event, thread, state);
	*wait = (struct wait){
		.thread = thread,
		.object = service.object ?
				  wait_objects_object(waits, service.object, service.name) :
				  wait_objects_nothing(waits, state, thread),
		.state = state,
		.service = service.name,
		.number = event->number,
		.begin_ns = event->time_ns,
		.counts = waits->counts,
		.priority = thread->priority,
		.address = service.address};
	/*
	 * ThreadX does not record all calls that begin a wait without an object.  So the last recorded call may not be
	 * the one that waits.
	 */
	if (!service.object && !event->is_made && state != STATE_SLEEP)
		wait->service = "";
	wait->before = wait->object->signal;
	wait->holder = holder_of(waits, wait);
	thread->waits = true;
	if (++wait->object->nr_waiters > wait->object->most_waiters)
		wait->object->most_waiters = wait->object->nr_waiters;
	if (waits->listener->began)
		waits->listener->began(waits->listener->arg, wait);
}

/* When a thread puts an object, ThreadX gives the object directly to the waiting thread that it resumes. */
static void take_waited(struct waits *waits, const struct event *event, const struct wait *wait)
{
	bool is_mutex = wait->state == STATE_MUTEX && !wait->object->holds;
	bool is_semaphore = wait->waker && !wait->object->is_signal &&
			    wait->waker->last.native == NATIVE_SEMAPHORE_PUT &&
			    wait->waker->last.object == wait->object->handle;

	if (!event->is_made && wait->object->kind && (is_mutex || is_semaphore))
		take(waits, wait->thread, wait->object, event, false, true);
}

/*
 * In a log, the waker may have called other services after its signal to the object.  So use the service of the
 * object's last signal.
 */
static void set_waker(struct waits *waits, const struct event *event, struct wait *wait)
{
	struct waiter *waker = wait_objects_thread(waits, event->context);
	const struct signal *signal = &wait->object->signal;

	wait->waker = waker;
	if (signal->nr > 0 && signal->by == waker)
		wait->waker_service = signal->service;
	else
		wait->waker_service = event->is_made ? "" : waker->last.name;
	if (!wait->holder && wait->object->is_lock)
		wait->holder = waker;
}

static void end_wait(struct waits *waits, const struct event *event)
{
	struct waiter *thread = wait_objects_thread(waits, event_word(event, 0));
	struct wait *wait = &thread->wait;

	if (!thread->waits)
		return;
	thread->waits = false;
	wait->object->nr_waiters--;
	wait->end_ns = event->time_ns;
	wait->has_ended = true;
	wait->result = event->of ? call_result(event->of) : 0;
	if (event->context != 0 && event->context != thread->context)
		set_waker(waits, event, wait);
	report_end(waits, wait);
	take_waited(waits, event, wait);
}

/* A call in a log has ended.  If the call succeeded, its thread now holds the object. */
static void end_call(struct waits *waits, const struct event *event, struct waiter *thread)
{
	unsigned int service = call_service(event);
	struct awaited *object;

	if (event->call.object == 0 || !was_got(event))
		return;
	object = wait_objects_object(waits, event->call.object, event->name);
	if (service == NATIVE_MUTEX_GET || (service == NATIVE_SEMAPHORE_GET && !object->is_signal))
		take(waits, thread, object, event, is_shared(event), true);
}

/* Events. */

static void apply_service(struct waits *waits, const struct event *event, struct waiter *thread,
			    unsigned int native)
{
	struct awaited *object;

	if (native >= NR_NATIVES || !natives[native].has_object || event_word(event, 0) == 0)
		return;
	object = wait_objects_object(waits, event_word(event, 0), event->name);
	switch (native) {
	case NATIVE_MUTEX_GET:
		get_mutex(waits, event, thread, object);
		break;
	case NATIVE_MUTEX_PUT:
		put_mutex(waits, event, thread, object);
		break;
	case NATIVE_SEMAPHORE_GET:
		get_semaphore(waits, event, thread, object);
		break;
	case NATIVE_SEMAPHORE_PUT:
	case NATIVE_SEMAPHORE_CEILING_PUT:
		put_semaphore(waits, event, thread, object);
		break;
	case NATIVE_EVENT_FLAGS_SET:
	case NATIVE_QUEUE_SEND:
	case NATIVE_QUEUE_FRONT_SEND:
	case NATIVE_QUEUE_RECEIVE:
		set_signal(object, event, thread);
		break;
	case NATIVE_MUTEX_DELETE:
	case NATIVE_SEMAPHORE_DELETE:
		drop_all(waits, object);
		break;
	default:
		break;
	}
}

/*
 * Return true if this event shows that the end of the thread's wait was lost.  A waiting thread of ThreadX records no
 * events.  So any event of the thread shows that the end was lost.  In a log, a thread that waits may still record
 * events, in a signal handler.
 */
static bool has_missed_end(const struct waits *waits, const struct event *event,
			   const struct waiter *thread)
{
	return thread->waits && !event->is_made && waits->source->file.foreign &&
	       event->number != thread->wait.number;
}

static void set_service(struct waiter *thread, const struct event *event, unsigned int native)
{
	const struct native *is = native < NR_NATIVES ? &natives[native] : &natives[0];

	thread->last = (struct service){native, event->name,
					is->has_object ? event_word(event, 0) : 0, event->address};
	if (is->has_object && native < NET_FIRST)
		thread->of_object = thread->last;
	if (is->socket_word > 0) {
		thread->of_socket = thread->last;
		thread->of_socket.object = event_word(event, is->socket_word - 1);
	}
}

static void apply_event(struct waits *waits, const struct event *event)
{
	unsigned int native = event_native(event);
	struct waiter *thread = wait_objects_thread(waits, event->context);

	if (event->priority >= 0)
		thread->priority = event->priority;
	if (native == NATIVE_THREAD_SUSPEND) {
		begin_wait(waits, event);
		return;
	}
	if (native == NATIVE_THREAD_RESUME) {
		end_wait(waits, event);
		return;
	}
	if (has_missed_end(waits, event, thread))
		forget_wait(waits, thread);
	if (event->is_over) {
		end_call(waits, event, thread);
		return;
	}
	if (native != 0)
		apply_service(waits, event, thread, native);
	if (!event->is_made && native != NATIVE_ISR_ENTER && native != NATIVE_ISR_EXIT &&
	    native != NATIVE_RUNNING && (native != 0 || event->is_call))
		set_service(thread, event, native);
}

void waits_end(struct waits *waits)
{
	for (struct waiter *at = waits->first_waiter; at; at = at->next) {
		at->wait.end_ns = waits->end_ns;
		if (at->waits)
			report_end(waits, &at->wait);
	}
	for (struct awaited *at = waits->first_awaited; at; at = at->next)
		for (struct hold *hold = at->holds; hold && waits->listener->given;
		     hold = hold->next_of_object)
			waits->listener->given(waits->listener->arg, hold, waits->end_ns);
}

void waits_init(struct waits *waits, struct source *source, const struct waits_listener *listener)
{
	*waits = (struct waits){.source = source, .listener = listener};
	wait_objects_count_names(waits);
	if (!natives[NATIVE_MUTEX_GET].has_object)
		learn_natives();
}

void waits_event(struct waits *waits, const struct event *event, bool counts)
{
	waits->now_ns = event->time_ns;
	if (event->time_ns > waits->end_ns)
		waits->end_ns = event->time_ns;
	waits->counts = counts;
	apply_event(waits, event);
}

/* Reading. */

struct range {
	int64_t from_ns, until_ns;
};

static struct range find_range(const struct selection *selection, const struct source *source)
{
	struct range range = {INT64_MIN, INT64_MAX};

	if (selection->from.is_set)
		range.from_ns = time_arg_ns(&selection->from, source);
	if (selection->until.is_set)
		range.until_ns = time_arg_ns(&selection->until, source);
	return range;
}

void waits_read(struct waits *waits, struct source *source, const struct selection *selection,
		const struct waits_listener *listener)
{
	struct range range = {0};
	uint64_t nr_events = 0;
	struct event event;

	waits_init(waits, source, listener);
	calls_expand(source);
	source->task = "reading";
	source_rewind(source);
	while (calls_next(source, &event)) {
		if (nr_events++ == 0)
			range = find_range(selection, source);
		waits_event(waits, &event,
			    event.time_ns >= range.from_ns && event.time_ns < range.until_ns &&
				    filter_takes(selection->filter, source, &event));
	}
	waits_end(waits);
}

void waits_free(struct waits *waits)
{
	for (struct awaited *at = waits->first_awaited, *next; at; at = next) {
		next = at->next;
		while (at->holds)
			free_hold(at->holds);
		free(at->name);
		free(at);
	}
	for (struct waiter *at = waits->first_waiter, *next; at; at = next) {
		next = at->next;
		free(at->name);
		free(at);
	}
	map_free(&waits->nr_of_name);
	map_free(&waits->waiter_of);
	map_free(&waits->awaited_of);
}

/* Periods. */

static int64_t overlap(const struct stretch *stretch, int64_t from_ns, int64_t until_ns)
{
	int64_t from = stretch->begin_ns > from_ns ? stretch->begin_ns : from_ns;
	int64_t until = stretch->end_ns < until_ns ? stretch->end_ns : until_ns;

	return until > from ? until - from : 0;
}

int64_t waits_known_since(const struct waiter *thread)
{
	int64_t since = INT64_MAX;

	if (thread->nr_recent <= WAITS_RECENT)
		return INT64_MIN;
	for (unsigned int i = 0; i < WAITS_RECENT; i++)
		if (thread->recent[i].begin_ns < since)
			since = thread->recent[i].begin_ns;
	return since;
}

int64_t waits_within(const struct waiter *thread, int64_t from_ns, int64_t until_ns,
		     struct stretch *longest)
{
	unsigned int nr = thread->nr_recent < WAITS_RECENT ? thread->nr_recent : WAITS_RECENT;
	struct stretch now = {thread->wait.begin_ns, until_ns, thread->wait.object,
			      thread->wait.service};
	int64_t sum = 0, most = 0;

	for (unsigned int i = 0; i < nr + thread->waits; i++) {
		const struct stretch *at = i < nr ? &thread->recent[i] : &now;
		int64_t ns = overlap(at, from_ns, until_ns);

		sum += ns;
		if (ns > most) {
			most = ns;
			*longest = *at;
		}
	}
	return sum;
}
