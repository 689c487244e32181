/* SPDX-License-Identifier: MIT */
#include "waits/waits.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/calldata.h"
#include "trace/calls.h"
#include "trace/origins.h"
#include "trace/calltable.h"
#include "trace/native.h"
#include "trace/states.h"
#include "trace/thread_time.h"
#include "waits/holder_watch.h"
#include "waits/holds.h"
#include "waits/nested.h"
#include "waits/periods.h"
#include "waits/services.h"
#include "waits/wait_objects.h"

/* Waits. */

/* The thread no longer waits for its object. */
static void leave(struct waiter *thread, int64_t at_ns)
{
	struct awaited *object = thread->wait.object;
	struct wait **at = &object->waiting;

	holder_watch_end(&thread->wait, at_ns);
	while (*at != &thread->wait)
		at = &(*at)->next_waiting;
	*at = thread->wait.next_waiting;
	object->nr_waiters--;
	thread->waits = false;
}

static void report_end(struct waits *waits, const struct wait *wait)
{
	struct waiter *thread = wait->thread;

	if (!wait->outer)
		units_add(&thread->waited_ns, wait->end_ns - wait->begin_ns);
	thread->nr_waits++;
	if (waits->listener->ended)
		waits->listener->ended(waits->listener->arg, wait);
}

/* If the wait that is over began in a signal handler, the thread goes on with the wait that the signal interrupted. */
static void go_on(struct waiter *thread)
{
	nested_take_back(thread);
	if (thread->waits && thread->sched)
		thread_states_wait_begins(thread->sched);
}

static void forget_wait(struct waits *waits, struct waiter *thread)
{
	if (!thread->waits)
		return;
	holder_watch_doubt(thread);
	leave(thread, waits->now_ns);
	if (thread->sched)
		thread_states_wait_ends(&waits->states, thread->sched);
	waits->nr_broken++;
	if (waits->listener->broken)
		waits->listener->broken(waits->listener->arg, &thread->wait, waits->now_ns);
	go_on(thread);
}

static void report_unknown(const struct waits *waits, const struct waiter *thread, int64_t from_ns,
			   int64_t until_ns)
{
	if (waits->listener->unknown && until_ns > from_ns)
		waits->listener->unknown(waits->listener->arg, thread, from_ns, until_ns);
}

/* Return true if the thread or object may be of the log of the process.  Only a merged log has several. */
static bool is_of_log(const struct waits *waits, unsigned int handle, pid_t pid)
{
	const struct txtrace_object *object = source_object(waits->source, handle);

	return !object || !source_is_merged(waits->source) ||
	       thread_states_can_concern(&waits->states, pid, object->pid);
}

/*
 * Events of any thread of the log may be missing.  So from now on, it is unknown which thread holds an object, and
 * what a thread does until its next event.
 */
static void begin_gap(struct waits *waits, pid_t pid, int64_t at_ns)
{
	waits->nr_gaps++;
	for (struct waiter *at = waits->first_waiter; at; at = at->next) {
		if (!is_of_log(waits, at->context, pid))
			continue;
		if (!at->is_unknown)
			at->unknown_since_ns = at->waits ? waits_outermost(at)->begin_ns : at_ns;
		at->is_unknown = true;
		at->last_ns = at->before_ns = LONG_AGO;
		at->awaits_stack = false;
		holder_watch_doubt(at);
		while (at->waits)
			forget_wait(waits, at);
	}
	for (struct awaited *at = waits->first_awaited; at; at = at->next)
		if (is_of_log(waits, at->handle, pid))
			holds_forget(waits, at);
	if (waits->listener->gap)
		waits->listener->gap(waits->listener->arg, at_ns);
}

/* An event of a thread shows that the thread runs. */
static void end_unknown(const struct waits *waits, struct waiter *thread)
{
	if (thread->is_unknown)
		report_unknown(waits, thread, thread->unknown_since_ns, waits->now_ns);
	thread->is_unknown = false;
}

/* Later events of other processes may still show what the thread waited for, so it leaves nothing. */
static void end_thread(struct waits *waits, struct waiter *thread)
{
	if (thread->has_died)
		return;
	thread->has_died = true;
	thread->died_ns = waits->now_ns;
	/* The kernel ends the thread a little later. */
	if (thread->sched)
		thread->died_times = thread_states_until(thread->sched, waits->now_ns);
	if (waits->listener->died)
		waits->listener->died(waits->listener->arg, thread, waits->now_ns);
}

/* The end of this wait is missing, and also those of the waits that began in it. */
static void forget_from(struct waits *waits, struct waiter *thread, const struct wait *wait)
{
	uint64_t wanted = wait->number, number;
	int64_t begin_ns = wait->begin_ns;

	do {
		number = thread->wait.number;
		forget_wait(waits, thread);
	} while (thread->waits && number != wanted);
	if (!thread->waits)
		report_unknown(waits, thread, begin_ns, waits->now_ns);
}

/*
 * Another wait of the thread begins.  A waiting thread of ThreadX records no events, so the end of its wait was lost.
 * In a log, a signal handler may wait.  Return the wait that the signal interrupted, or NULL.
 */
static struct wait *interrupt(struct waits *waits, struct waiter *thread, const struct awaited *object,
			      const struct service *service)
{
	const struct wait *ended = waits->source->file.foreign ? &thread->wait :
								 nested_without_end(thread, object, service);

	if (ended)
		forget_from(waits, thread, ended);
	if (!thread->waits)
		return NULL;
	if (thread->sched)
		thread_states_wait_ends(&waits->states, thread->sched);
	return nested_put_aside(thread);
}

static void begin_wait(struct waits *waits, const struct event *event)
{
	struct waiter *thread = wait_objects_thread(waits, event_word(event, 0));
	unsigned int state = event_word(event, 1);
	struct wait *wait = &thread->wait, *outer;
	struct awaited *object;
	struct waiter *holder;
	struct service service;

	if (state == STATE_ENDED && event->is_made) {
		end_thread(waits, thread);
		return;
	}
	if (!state_of(state)) {
		if (thread->waits)
			forget_from(waits, thread, waits_outermost(thread));
		return;
	}
	service = services_of_wait(event, thread, state);
	object = service.object ? wait_objects_object(waits, service.object, service.name) :
				  wait_objects_nothing(waits, state, thread);
	outer = thread->waits ? interrupt(waits, thread, object, &service) : NULL;
	*wait = (struct wait){
		.thread = thread,
		.outer = outer,
		.object = object,
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
	periods_begin(thread, waits->now_ns, &wait->spent);
	if (thread->sched)
		thread_states_wait_begins(thread->sched);
	thread->waits = true;
	wait->next_waiting = wait->object->waiting;
	wait->object->waiting = wait;
	holder = waits_holder_for(waits, wait);
	if (holder)
		holder_watch_begin(wait, holder, event->time_ns);
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
		holds_take(waits, wait->thread, wait->object, event, false, true);
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

/*
 * In a trace buffer that is made from a log, the context of a RESUME may be the thread "idle" (NATIVE_IDLE_HANDLE).
 * Then it is not known which thread ended the wait.
 */
static bool is_idle(struct waits *waits, unsigned int context)
{
	return context == NATIVE_IDLE_HANDLE &&
	       strcmp(wait_objects_thread(waits, context)->name, NATIVE_IDLE_NAME) == 0;
}

/* The end of a call shows that the waits which began during it have ended, too. */
static void forget_inner(struct waits *waits, struct waiter *thread, const struct event *event)
{
	const unsigned int handle = event->of ? event->of->call.object : 0;
	const uint64_t known = handle ? map_find(&waits->awaited_of, handle) : 0;
	const struct awaited *object = (struct awaited *)(uintptr_t)known;
	const struct wait *wait = event->of ? nested_of_call(thread, event->of->name, object) : NULL;
	uint64_t number = wait ? wait->number : thread->wait.number;

	while (thread->wait.number != number)
		forget_wait(waits, thread);
}

static void end_wait(struct waits *waits, const struct event *event)
{
	struct waiter *thread = wait_objects_thread(waits, event_word(event, 0));
	struct wait *wait = &thread->wait;

	if (!thread->waits)
		return;
	forget_inner(waits, thread, event);
	leave(thread, event->time_ns);
	wait->end_ns = event->time_ns;
	wait->has_ended = true;
	wait->result = event->of ? call_result(event->of) : 0;
	if (event->context != 0 && event->context != thread->context && !is_idle(waits, event->context))
		set_waker(waits, event, wait);
	periods_end_wait(waits, thread, event->time_ns);
	holder_watch_waited(wait);
	report_end(waits, wait);
	thread->awaits_stack = true;
	thread->ended = *wait;
	take_waited(waits, event, wait);
	go_on(thread);
}

/* A call in a log has ended.  If the call succeeded, its thread now holds the object. */
static void end_call(struct waits *waits, const struct event *event, struct waiter *thread)
{
	unsigned int service = call_service(event);
	struct awaited *object;

	if (event->call.object == 0 || !holds_was_got(event))
		return;
	object = wait_objects_object(waits, event->call.object, event->name);
	if (service ==
	    NATIVE_MUTEX_GET) /* a thread that holds a mutex does not wait before it takes it again */
		holds_drop_stale(waits, thread, object);
	if (service == NATIVE_MUTEX_GET || (service == NATIVE_SEMAPHORE_GET && !object->is_signal))
		holds_take(waits, thread, object, event, holds_is_shared(event), true);
}

/* Return true if the event is a stack.  It belongs to the call before it. */
static bool take_stack(struct waits *waits, const struct event *event, struct waiter *thread)
{
	struct stack stack;

	if (!stack_read(event, &stack))
		return false;
	if (thread->awaits_stack && waits->listener->stack)
		waits->listener->stack(waits->listener->arg, &thread->ended, &stack);
	thread->awaits_stack = false;
	return true;
}

/* The thread says how long it has run since it began.  Return false if it does not. */
static bool take_time(struct waits *waits, const struct event *event, struct waiter *thread)
{
	struct thread_time time;

	if (!thread_time_read(event, &time))
		return false;
	if (thread->has_told && time.ran_ns >= thread->told_ran_ns && waits->listener->ran)
		waits->listener->ran(waits->listener->arg, thread, thread->told_at_ns, event->time_ns,
				     time.ran_ns - thread->told_ran_ns);
	thread->has_told = true;
	thread->told_at_ns = event->time_ns;
	thread->told_ran_ns = time.ran_ns;
	return true;
}

/* Events. */

/* The last thread at a barrier does not wait, and lets all others go on, also those of other processes. */
static bool opens_barrier(const struct event *event)
{
	return event->is_call && event->call.phase != TXTRACE_CALL_BEGINS &&
	       strcmp(event->name, "pthread_barrier_wait") == 0 && call_result(event) == 0;
}

static void apply_service(struct waits *waits, const struct event *event, struct waiter *thread,
			    unsigned int native)
{
	struct awaited *object;

	if (!services_have_object(native) || event_word(event, 0) == 0)
		return;
	object = wait_objects_object(waits, event_word(event, 0), event->name);
	switch (native) {
	case NATIVE_MUTEX_GET:
		holds_get_mutex(waits, event, thread, object);
		break;
	case NATIVE_MUTEX_PUT:
		holds_put_mutex(waits, event, thread, object);
		break;
	case NATIVE_SEMAPHORE_GET:
		holds_get_semaphore(waits, event, thread, object);
		break;
	case NATIVE_SEMAPHORE_PUT:
	case NATIVE_SEMAPHORE_CEILING_PUT:
		holds_put_semaphore(waits, event, thread, object);
		break;
	case NATIVE_EVENT_FLAGS_SET:
	case NATIVE_QUEUE_SEND:
	case NATIVE_QUEUE_FRONT_SEND:
	case NATIVE_QUEUE_RECEIVE:
		holds_set_signal(object, event, thread);
		break;
	case NATIVE_EVENT_FLAGS_GET:
		if (opens_barrier(event))
			holds_set_signal(object, event, thread);
		break;
	case NATIVE_MUTEX_DELETE:
	case NATIVE_SEMAPHORE_DELETE:
		holds_drop_all(waits, object);
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

/* A thread that ends has left the calls in which it waited, by longjmp(). */
static bool is_end_of_thread(const struct waits *waits, const struct event *event)
{
	return !waits->source->file.foreign && event->is_call && strcmp(event->name, "txtrace_thread_end") == 0;
}

/*
 * Handle the events that show a gap.  A filter that changes hides events from now on.  A stop hides events only if the
 * recording goes on later.  At the end of the trace, it is just the end.  In a merged log, other events may be of
 * another log, so only a START of the same process shows that the recording goes on.
 */
static void find_gap(struct waits *waits, const struct event *event)
{
	bool is_library = event->type < POSIX_TRACE_UNNAMED_USEREVENT;
	uint64_t log, stopped_at;

	if (event->is_made)
		return;
	log = event->pid > 0 && source_is_merged(waits->source) ? (uint64_t)event->pid : 0;
	if (event->type == POSIX_TRACE_OVERFLOW || event->type == POSIX_TRACE_FILTER) {
		begin_gap(waits, event->pid, event->time_ns);
	} else if (event->type == POSIX_TRACE_STOP) {
		*map_get(&waits->stopped_at, log) = (uint64_t)event->time_ns + 1;
	} else if (event->type == POSIX_TRACE_START || (!is_library && !source_is_merged(waits->source))) {
		stopped_at = waits->stopped_at.nr_taken > 0 ? map_find(&waits->stopped_at, log) : 0;
		if (stopped_at == 0)
			return;
		begin_gap(waits, event->pid, (int64_t)(stopped_at - 1));
		*map_get(&waits->stopped_at, log) = 0;
	}
}

/* These calls did not wait, and the thread gave back all that it took in them. */
static void apply_counted(struct waits *waits, const struct event *event)
{
	const struct call_row *call = call_counted(event);
	uint64_t nr = call_number(event);
	struct awaited *object;

	waits->nr_counted += nr;
	if (event->call.object == 0 || (call->native != NATIVE_MUTEX_GET && call->native != NATIVE_MUTEX_PUT &&
					call->native != NATIVE_SEMAPHORE_GET && call->native != NATIVE_SEMAPHORE_PUT))
		return;
	object = wait_objects_object(waits, event->call.object, call->name);
	object->is_lock = object->is_ordered = true;
	object->nr_counted += nr;
	if ((call->native == NATIVE_MUTEX_GET || call->native == NATIVE_SEMAPHORE_GET) && holds_was_got(event) &&
	    !call_is_nested(event) && waits->listener->counted && waits->counts)
		waits->listener->counted(waits->listener->arg, object, nr, event->code);
}

static void apply_event(struct waits *waits, const struct event *event)
{
	unsigned int native = event_native(event);
	struct waiter *thread;

	/* The kernel made this record, not the thread. */
	if (!event->is_made && thread_states_event(&waits->states, event))
		return;
	thread = wait_objects_thread(waits, event->context);
	find_gap(waits, event);
	if (!event->is_made)
		periods_find_thread(waits, thread);
	if (event->priority >= 0)
		thread->priority = event->priority;
	if (!event->is_made) {
		end_unknown(waits, thread);
		holds_note_event(waits, thread, event);
		thread->before_ns = thread->last_ns;
		thread->last_ns = event->time_ns;
		thread->has_died = false;
	}
	if (call_counted(event)) {
		apply_counted(waits, event);
		return;
	}
	if (native == NATIVE_THREAD_SUSPEND) {
		begin_wait(waits, event);
		return;
	}
	if (native == NATIVE_THREAD_RESUME) {
		end_wait(waits, event);
		return;
	}
	if (take_stack(waits, event, thread) || take_time(waits, event, thread))
		return;
	if (has_missed_end(waits, event, thread)) {
		report_unknown(waits, thread, thread->wait.begin_ns, event->time_ns);
		forget_wait(waits, thread);
	}
	if (thread->waits && is_end_of_thread(waits, event))
		forget_from(waits, thread, waits_outermost(thread));
	if (event->is_over) {
		end_call(waits, event, thread);
		return;
	}
	thread->awaits_stack = false;
	nested_note_handler(thread, native);
	if (native != 0)
		apply_service(waits, event, thread, native);
	if (!event->is_made && native != NATIVE_ISR_ENTER && native != NATIVE_ISR_EXIT &&
	    native != NATIVE_RUNNING && (native != 0 || event->is_call))
		services_set(thread, event, native);
}

/* The kernel has recorded that the thread ended, and the thread has not. */
static void end_killed(struct waiter *thread)
{
	if (thread->has_died || !thread->sched || !thread->sched->has_exited)
		return;
	thread->has_died = true;
	thread->died_ns = thread->sched->end_ns;
	thread->died_times = thread_states_until(thread->sched, thread->died_ns);
}

/* Return the time until which the trace shows the thread. */
static int64_t end_of(const struct waits *waits, const struct waiter *thread)
{
	return thread->has_died ? thread->died_ns : waits->end_ns;
}

/*
 * A wait lasts until the end, unless another one began in it: then its end may be missing, because the thread left it
 * by longjmp().
 */
static void end_waits(struct waits *waits, struct waiter *thread)
{
	struct wait *wait = &thread->wait;

	if (!wait->is_doubtful) {
		periods_end_wait(waits, thread, wait->end_ns);
		report_end(waits, wait);
	}
	for (struct wait *at = wait->is_doubtful ? wait : wait->outer; at; at = at->outer) {
		waits->nr_broken++;
		if (waits->listener->broken)
			waits->listener->broken(waits->listener->arg, at, waits->now_ns);
	}
	if (!wait->is_doubtful)
		return;
	report_unknown(waits, thread, waits_outermost(thread)->begin_ns, end_of(waits, thread));
	thread->waits = false;
}

void waits_end(struct waits *waits)
{
	waits->has_ended = true;
	waits->now_ns = waits->end_ns;
	for (struct waiter *at = waits->first_waiter; at; at = at->next)
		end_killed(at);
	for (struct waiter *at = waits->first_waiter; at; at = at->next) {
		at->wait.end_ns = end_of(waits, at);
		for (struct wait *wait = at->waits ? &at->wait : NULL; wait; wait = wait->outer)
			holder_watch_end(wait, at->wait.end_ns);
	}
	for (struct waiter *at = waits->first_waiter; at; at = at->next) {
		if (at->is_unknown)
			report_unknown(waits, at, at->unknown_since_ns, end_of(waits, at));
		if (at->waits)
			end_waits(waits, at);
	}
	for (struct awaited *at = waits->first_awaited; at; at = at->next)
		for (struct hold *hold = at->holds; hold && waits->listener->given;
		     hold = hold->next_of_object) {
			int64_t end_ns = end_of(waits, hold->thread);

			holds_end_period(waits, hold, end_ns);
			waits->listener->given(waits->listener->arg, hold, end_ns);
		}
	thread_states_end(&waits->states);
}

static void add_logs(struct waits *waits)
{
	size_t nr = 0;
	const struct txtrace_origin *origin = source_origins(waits->source, &nr);

	for (size_t i = 0; i < nr; i++)
		if (origin[i].merged)
			thread_states_add_log(&waits->states, origin[i].pid);
}

/* A process of a merged log is of the same log as its parent. */
static void note_child(struct waits *waits, const struct event *event)
{
	static const struct call_row *start;
	struct call_field parent;

	if (!start)
		start = calltable_find("txtrace_process_start");
	if (event->row == start && source_is_merged(waits->source) &&
	    calldata_get(waits->source, event, "parent", &parent))
		thread_states_add_child(&waits->states, event->pid, (pid_t)parent.value);
}

void waits_init(struct waits *waits, struct source *source, const struct waits_listener *listener)
{
	*waits = (struct waits){.source = source, .listener = listener};
	thread_states_init(&waits->states, &(struct thread_states_listener){.arg = waits, .spent = periods_report});
	add_logs(waits);
	wait_objects_count_names(waits);
	services_learn();
}

/*
 * Before a program records that it begins, its first thread may have made calls in constructors and allocators of other
 * objects.
 */
static void find_beginning(struct waits *waits, const struct event *event)
{
	bool is_start;

	if (waits->is_beyond_start) /* so the search in the table does not cost time for each event */
		return;
	is_start = event->row && event->row == calltable_find("txtrace_process_start");
	if (waits->nr_calls == 1)
		waits->first_context = event->context;
	waits->has_beginning = is_start && event->context == waits->first_context;
	waits->is_beyond_start = is_start || event->context != waits->first_context ||
				 (event->row && event->row == calltable_find("execve"));
}

void waits_event(struct waits *waits, const struct event *event, bool counts)
{
	waits->now_ns = event->time_ns;
	if (event->time_ns > waits->end_ns)
		waits->end_ns = event->time_ns;
	waits->counts = counts;
	waits->nr_calls += event->is_call;
	if (event->is_call && !event->is_made)
		find_beginning(waits, event);
	if (event->is_call)
		note_child(waits, event);
	apply_event(waits, event);
}

void waits_free(struct waits *waits)
{
	for (struct awaited *at = waits->first_awaited, *next; at; at = next) {
		next = at->next;
		holds_free(at);
		free(at->name);
		free(at);
	}
	for (struct waiter *at = waits->first_waiter, *next; at; at = next) {
		next = at->next;
		nested_free(at);
		free(at->name);
		free(at);
	}
	thread_states_free(&waits->states);
	map_free(&waits->nr_of_name);
	map_free(&waits->waiter_of);
	map_free(&waits->awaited_of);
	map_free(&waits->shared_at);
	map_free(&waits->stopped_at);
}
