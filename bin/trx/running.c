/* SPDX-License-Identifier: MIT */
#include "trx/running.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "trace/native.h"
#include "trx/trx.h"

#define NO_CPU (-1)
#define CPU_SHIFT 24
#define STATE_COMPLETED 1u /* the thread has ended */
#define STATE_SUSPENDED 3u /* a wait of which no call is known */
#define SWITCH_NS 5000	   /* the kernel switches between two threads of the program in this time */

struct thread {
	uint32_t handle, priority; /* priority is the priority word of the last event */
	int cpu;		   /* the CPU on which the thread runs, or NO_CPU */
	bool is_asleep, has_ended;
	bool is_blocked; /* is_asleep without a call: the kernel says that the thread is blocked */
	bool is_waiting; /* the last event of the thread begins a wait in a call, or ends the thread */
	/* The last SUSPEND of the thread comes when the kernel says that the thread is blocked, or that it has ended. */
	bool is_going, is_ending;
	uint32_t state; /* if is_asleep or is_going: the state of the SUSPEND */
	int asleep_cpu; /* if is_asleep: the CPU of the SUSPEND */
};

/* The output of one file, which has the events of all CPUs or of one CPU. */
struct view {
	bool has_last, is_foreign; /* is_foreign: the last event is of a ThreadX buffer */
	bool has_log;		   /* at least one event comes from a log */
	uint32_t last_context;
	uint32_t next; /* the context that the last event names as the next one, or 0 */
	int64_t last_ns;
	bool is_held; /* the last event is a SUSPEND that is not yet in the output */
	struct spooled held;
	bool is_sliced; /* the last event is a TIME_SLICE that is not yet in the output */
	struct spooled slice;
	uint64_t nr_entries,
		most_changes; /* most_changes: largest number of SUSPEND and RESUME events of any thread */
};

struct running {
	struct sorter *to;
	struct trx_objects *trx_objects;
	bool per_core;
	bool has_records; /* scheduling records say when threads get and lose their CPUs */
	struct map by_handle; /* key: handle; value: index + 1 in thread[] */
	struct map
		nr_changes; /* key: view and handle; value: number of SUSPEND and RESUME events of the thread */
	struct thread *thread;
	size_t nr_threads, room;
	uint32_t idle;
	struct cpu {
		uint32_t thread; /* handle of the running thread, or 0 if none is known */
		int64_t last_ns;
	} cpu[TRX_CPUS];
	unsigned int nr_cpus;	    /* 1 + the largest number of a CPU with events */
	struct view view[TRX_CPUS]; /* if per_core is false, only view[0] is used */
};

/* Threads. */

/*
 * The result is valid until another thread is added.  put_running() adds none: its thread is "idle", or has had an
 * event.
 */
static struct thread *thread_of(struct running *running, uint32_t handle)
{
	uint64_t *known = map_get(&running->by_handle, handle);

	if (*known == 0) {
		if (running->nr_threads == running->room) {
			running->room = running->room ? 2 * running->room : 64;
			running->thread = must(reallocarray(running->thread, running->room,
							    sizeof(*running->thread)));
		}
		running->thread[running->nr_threads++] =
			(struct thread){.handle = handle, .priority = HAS_THRESHOLD, .cpu = NO_CPU};
		*known = running->nr_threads;
	}
	return &running->thread[*known - 1];
}

static bool is_running(const struct running *running, uint32_t handle)
{
	uint64_t known = map_find(&running->by_handle, handle);

	return known && running->thread[known - 1].cpu != NO_CPU;
}

static void leave_cpu(struct running *running, struct thread *thread)
{
	if (thread->cpu != NO_CPU)
		running->cpu[thread->cpu].thread = 0;
	thread->cpu = NO_CPU;
}

static void enter_cpu(struct running *running, struct thread *thread, unsigned int cpu)
{
	uint32_t other = running->cpu[cpu].thread;

	if (other && other != thread->handle)
		thread_of(running, other)->cpu = NO_CPU;
	leave_cpu(running, thread);
	running->cpu[cpu].thread = thread->handle;
	thread->cpu = (int)cpu;
}

/* Views. */

static unsigned int cpu_of(const struct spooled *event)
{
	return event->id >> CPU_SHIFT;
}

static unsigned int native_of(const struct spooled *event)
{
	return event->id & 0xFFFF;
}

static struct view *view_of(struct running *running, unsigned int cpu)
{
	return &running->view[running->per_core ? cpu : 0];
}

static void store(struct running *running, struct view *view, const struct spooled *event)
{
	unsigned int native = native_of(event);

	if (native == NATIVE_THREAD_SUSPEND || native == NATIVE_THREAD_RESUME) {
		uint64_t key = (uint64_t)(view - running->view) << 32 | event->info[0];
		uint64_t nr = ++*map_get(&running->nr_changes, key);

		if (nr > view->most_changes)
			view->most_changes = nr;
	}
	view->has_log |= (event->flags & SPOOLED_LOG) != 0;
	view->nr_entries++;
	sort_put(running->to, event);
}

/*
 * The thread of the slice lost the CPU to this context.  ThreadX records that in an interrupt, whose entries have the
 * thread in the place of the priority.
 */
static void release_slice(struct running *running, struct view *view, uint32_t next)
{
	const struct spooled *slice = &view->slice;
	struct spooled entry = {.time_ns = slice->time_ns,
				.context = CONTEXT_INTERRUPT,
				.priority = slice->context,
				.flags = SPOOLED_LOG};
	unsigned int cpu = cpu_of(slice) << CPU_SHIFT;

	if (!view->is_sliced)
		return;
	view->is_sliced = false;
	entry.id = cpu | NATIVE_ISR_ENTER;
	store(running, view, &entry);
	entry.id = cpu | NATIVE_TIME_SLICE;
	entry.info[0] = next;
	store(running, view, &entry);
	entry.id = cpu | NATIVE_ISR_EXIT;
	entry.info[0] = 0;
	store(running, view, &entry);
}

static void put(struct running *running, struct view *view, const struct spooled *event,
		uint32_t next)
{
	release_slice(running, view, running->idle);
	view->has_last = true;
	view->is_foreign = !(event->flags & SPOOLED_LOG);
	view->last_context = event->context;
	view->last_ns = event->time_ns;
	view->next = next;
	store(running, view, event);
}

static void release(struct running *running, struct view *view, uint32_t next)
{
	if (!view->is_held)
		return;
	view->is_held = false;
	view->held.info[3] = view->next = next;
	store(running, view, &view->held);
}

/* Give the time before time_ns to this context. */
static void put_running(struct running *running, struct view *view, unsigned int cpu,
			int64_t time_ns, uint32_t context)
{
	const struct thread *thread = thread_of(running, context);
	const struct spooled event = {
		.time_ns = time_ns,
		.context = context,
		.priority = thread->priority,
		.id = (thread->cpu != NO_CPU && !running->per_core ? (unsigned int)thread->cpu :
								     cpu)
			      << CPU_SHIFT |
		      NATIVE_RUNNING,
		.flags = SPOOLED_LOG,
	};

	put(running, view, &event, 0);
}

/* Return the running thread with the newest event, or "idle". */
static uint32_t newest_running(const struct running *running)
{
	const struct cpu *newest = NULL;

	for (unsigned int i = 0; i < running->nr_cpus; i++)
		if (running->cpu[i].thread &&
		    (!newest || running->cpu[i].last_ns > newest->last_ns))
			newest = &running->cpu[i];
	return newest ? newest->thread : running->idle;
}

/* Return the context that gets the time between the last event of the view and an event of this context. */
static uint32_t choose_running(const struct running *running, const struct view *view,
			       unsigned int cpu, uint32_t context)
{
	if (running->per_core)
		return running->cpu[cpu].thread ?: running->idle;
	if (is_running(running, context))
		return context;
	return is_running(running, view->last_context) ? view->last_context :
							 newest_running(running);
}

/* Ensure that TraceX gives the time before an event of this context to the right thread. */
static void charge(struct running *running, unsigned int cpu, int64_t time_ns, uint32_t context)
{
	struct view *view = view_of(running, cpu);
	uint32_t right, given;

	if (!view->has_last || view->is_foreign)
		return;
	right = choose_running(running, view, cpu, context);
	release(running, view, right);
	given = view->next ?: context;
	/* If the event names another next thread, TraceX would synthesize an entry RUNNING of this thread. */
	if (given != context && given != view->last_context)
		put_running(running, view, cpu, time_ns, given);
	else if (given != right && time_ns > view->last_ns)
		put_running(running, view, cpu, time_ns, right);
}

/* Events. */

static void resume(struct running *running, const struct spooled *cause, struct thread *thread,
		   uint32_t waker)
{
	unsigned int cpu = running->per_core ? (unsigned int)thread->asleep_cpu : cpu_of(cause);
	const struct thread *by = waker && waker != thread->handle ? thread_of(running, waker) :
								     NULL;
	struct spooled event = {.time_ns = cause->time_ns,
				.id = cpu << CPU_SHIFT | NATIVE_THREAD_RESUME,
				.info = {thread->handle, thread->state},
				.flags = SPOOLED_LOG};

	if (by && !by->is_asleep && !by->has_ended &&
	    (!running->per_core || running->cpu[cpu].thread == waker)) {
		event.context = event.info[3] = waker;
		event.priority = by->priority;
	} else {
		event.context = running->idle;
		event.priority = HAS_THRESHOLD;
		event.info[3] = thread->handle;
		if (running->per_core && cpu_of(cause) != cpu)
			event.info[3] = running->cpu[cpu].thread ?: running->idle;
	}
	/*
	 * The thread takes a CPU that no thread has.  TraceX counts a RESUME as a preemption if another thread runs after it
	 * than before it, so the entry is of the thread itself.
	 */
	if (running->per_core && running->has_records && event.info[3] == thread->handle) {
		event.context = thread->handle;
		event.priority = thread->priority;
	}
	charge(running, cpu, event.time_ns, event.context);
	if (running->per_core && cpu_of(cause) != cpu)
		/*
		 * The end of the call is in the file of another CPU.  So the SUSPEND would stay without an end in this
		 * file, unless an entry RUNNING follows it.
		 */
		put_running(running, view_of(running, cpu), cpu, event.time_ns,
			    running->cpu[cpu].thread ?: running->idle);
	thread->is_asleep = thread->is_blocked = thread->is_going = false;
	put(running, view_of(running, cpu), &event, event.info[3]);
}

static void put_resume(struct running *running, const struct spooled *event)
{
	uint32_t waker = event->flags & SPOOLED_NO_THREAD ? 0 : event->context;
	struct thread *thread;

	if (waker)
		thread_of(running, waker); /* register the waker now, because resume() must not reallocate thread[] */
	thread = thread_of(running, event->info[0]);
	thread->is_going = false;
	/* The record of the begin of this wait is missing, or a signal handler ran during the wait. */
	if (!thread->is_asleep)
		return;
	resume(running, event, thread, waker);
}

static void put_suspend(struct running *running, const struct spooled *event, struct thread *thread)
{
	struct view *view = view_of(running, cpu_of(event));
	struct spooled suspend = *event;

	leave_cpu(running, thread);
	thread->is_going = false;
	thread->has_ended = event->flags & SPOOLED_END;
	thread->is_asleep = !thread->has_ended;
	thread->is_waiting = true;
	thread->state = event->info[1];
	thread->asleep_cpu = (int)cpu_of(event);
	if (running->per_core) {
		suspend.info[3] = running->idle;
		put(running, view, &suspend, running->idle);
		return;
	}
	view->has_last = view->is_held = true;
	view->is_foreign = false;
	view->last_context = suspend.context;
	view->last_ns = suspend.time_ns;
	view->held = suspend;
}

/* The thread has an event on another CPU, so it no longer runs on its last CPU. */
static void end_stay(struct running *running, const struct thread *thread, int64_t time_ns)
{
	unsigned int cpu = (unsigned int)thread->cpu;
	struct view *view = view_of(running, cpu);

	if (running->per_core && time_ns > view->last_ns)
		put_running(running, view, cpu, time_ns, thread->handle);
}

/* From here on it is unknown which threads run. */
static void put_gap(struct running *running, int64_t time_ns)
{
	for (unsigned int i = 0; i < running->nr_cpus; i++) {
		uint32_t handle = running->cpu[i].thread;

		if (!handle)
			continue;
		end_stay(running, thread_of(running, handle), time_ns);
		leave_cpu(running, thread_of(running, handle));
	}
}

static void put_of_thread(struct running *running, const struct spooled *event)
{
	unsigned int cpu = cpu_of(event);
	struct thread *thread = thread_of(running, event->context);

	if (thread->is_asleep)
		resume(running, event, thread, 0);
	if (thread->cpu != NO_CPU && thread->cpu != (int)cpu)
		end_stay(running, thread, event->time_ns);
	charge(running, cpu, event->time_ns, event->context);
	enter_cpu(running, thread, cpu);
	running->cpu[cpu].last_ns = event->time_ns;
	thread->priority = event->priority;
	thread->has_ended = thread->is_waiting = thread->is_going = thread->is_ending = false;
	if (native_of(event) == NATIVE_THREAD_SUSPEND && event->info[0] == event->context) {
		if (running->per_core && running->has_records) {
			thread->is_ending = event->flags & SPOOLED_END;
			thread->is_waiting = thread->is_going = !thread->is_ending;
			thread->state = event->info[1];
		} else {
			put_suspend(running, event, thread);
		}
	} else
		put(running, view_of(running, cpu), event, 0);
}

/* If the thread did not run, the file shows already that it waits, or another thread on its CPU. */
static void put_death(struct running *running, const struct spooled *event)
{
	struct thread *thread = thread_of(running, event->context);
	struct spooled suspend = *event;

	/* The kernel still says when the thread gets and loses its CPU. */
	if (running->per_core && running->has_records) {
		thread->is_ending = true;
		return;
	}
	if (thread->cpu == NO_CPU) {
		thread->has_ended = true;
		return;
	}
	suspend.id = (unsigned int)thread->cpu << CPU_SHIFT | native_of(event);
	suspend.priority = thread->priority;
	put_of_thread(running, &suspend);
}

/* Scheduling records.  They have no entries of their own, but those that ThreadX would have recorded. */

/* Give the time up to now to the thread that ran. */
static void settle(struct running *running, unsigned int cpu, int64_t time_ns)
{
	struct view *view = view_of(running, cpu);
	uint32_t ran = running->cpu[cpu].thread ?: running->idle;

	if (view->is_foreign)
		return;
	ran = choose_running(running, view, cpu, ran);
	charge(running, cpu, time_ns, ran);
	if (time_ns > view->last_ns)
		put_running(running, view, cpu, time_ns, ran);
}

/*
 * In a file of all CPUs, a wait ends with the end of its call, so a thread that gets the CPU before does not run yet.  In
 * a file of one CPU, the wait ends here.
 */
static void put_switch_in(struct running *running, const struct spooled *event)
{
	unsigned int cpu = cpu_of(event);
	struct view *view = view_of(running, cpu);
	struct thread *thread = thread_of(running, event->context);

	if (thread->cpu == (int)cpu)
		return;
	if (view->is_sliced && event->time_ns - view->slice.time_ns <= SWITCH_NS)
		release_slice(running, view, thread->handle);
	if (thread->is_blocked || (running->per_core && thread->is_asleep))
		resume(running, event, thread, 0);
	if (thread->is_waiting && (!running->per_core || thread->has_ended))
		return;
	if (thread->cpu != NO_CPU && thread->cpu != (int)cpu)
		end_stay(running, thread, event->time_ns);
	settle(running, cpu, event->time_ns);
	enter_cpu(running, thread, cpu);
	running->cpu[cpu].last_ns = event->time_ns;
}

/* In a file of all CPUs, which TraceX takes for one CPU, these entries would have no meaning. */
static void put_slice(struct running *running, const struct spooled *event)
{
	struct view *view = view_of(running, cpu_of(event));

	view->slice = *event;
	view->is_sliced = true;
	view->last_context = CONTEXT_INTERRUPT;
	view->next = 0;
}

static void put_block(struct running *running, const struct spooled *event, struct thread *thread)
{
	bool ends = event->flags & SPOOLED_END, is_in_call = thread->is_waiting;
	uint32_t state = ends ? STATE_COMPLETED : is_in_call ? thread->state : STATE_SUSPENDED;
	struct spooled suspend = {.time_ns = event->time_ns,
				  .context = thread->handle,
				  .priority = thread->priority,
				  .id = cpu_of(event) << CPU_SHIFT | NATIVE_THREAD_SUSPEND,
				  .info = {thread->handle, state},
				  .flags = event->flags & (SPOOLED_LOG | SPOOLED_END)};

	put_suspend(running, &suspend, thread);
	thread->is_blocked = !ends && !is_in_call;
	thread->is_waiting = ends || is_in_call;
}

/* No record will say when the thread is blocked in the wait that it has begun. */
static void put_going(struct running *running, unsigned int cpu, const struct spooled *event)
{
	struct spooled out = {
		.time_ns = event->time_ns, .id = cpu << CPU_SHIFT, .flags = event->flags & SPOOLED_LOG};
	uint32_t handle = running->cpu[cpu].thread;

	if (!handle || !(thread_of(running, handle)->is_going || thread_of(running, handle)->is_ending))
		return;
	if (thread_of(running, handle)->is_ending)
		out.flags |= SPOOLED_END;
	settle(running, cpu, event->time_ns);
	put_block(running, &out, thread_of(running, handle));
}

static void put_switch_out(struct running *running, const struct spooled *event)
{
	unsigned int cpu = cpu_of(event);
	struct thread *thread = thread_of(running, event->context);

	if (thread->cpu != (int)cpu)
		return;
	settle(running, cpu, event->time_ns);
	if (running->per_core && event->flags & SPOOLED_SLICE)
		put_slice(running, event);
	else if (running->per_core)
		put_block(running, event, thread);
	leave_cpu(running, thread);
}

static void put_sched(struct running *running, const struct spooled *event, bool has_thread)
{
	unsigned int cpu = cpu_of(event);
	struct view *view = view_of(running, cpu);

	if (event->flags & SPOOLED_LOST)
		put_going(running, cpu, event);
	for (unsigned int i = 0; event->flags & SPOOLED_LAST && i < running->nr_cpus; i++)
		put_going(running, i, event);
	running->has_records = !(event->flags & SPOOLED_LAST);
	/* A file begins with the first record of its CPU. */
	if (!view->has_last)
		put_running(running, view, cpu, event->time_ns, running->idle);
	if (has_thread && event->flags & SPOOLED_IN)
		put_switch_in(running, event);
	else if (has_thread && event->flags & (SPOOLED_OUT | SPOOLED_SLICE))
		put_switch_out(running, event);
	else if (event->flags & SPOOLED_LOST && running->cpu[cpu].thread) {
		settle(running, cpu, event->time_ns);
		leave_cpu(running, thread_of(running, running->cpu[cpu].thread));
	}
}

static bool is_thread(const struct spooled *event)
{
	return !(event->flags & SPOOLED_NO_THREAD) && event->context != CONTEXT_INTERRUPT &&
	       event->context != CONTEXT_INITIALIZE;
}

static void put_foreign(struct running *running, const struct spooled *event)
{
	struct view *view = view_of(running, cpu_of(event));

	release(running, view, is_thread(event) ? event->context : running->idle);
	put(running, view, event, 0);
}

static void put_event(struct running *running, const struct spooled *event)
{
	unsigned int cpu = cpu_of(event);

	if (cpu >= running->nr_cpus)
		running->nr_cpus = cpu + 1;
	if (event->flags & SPOOLED_MORE)
		store(running, view_of(running, cpu), event);
	else if (!(event->flags & SPOOLED_LOG))
		put_foreign(running, event);
	else if (event->flags & SPOOLED_DIES)
		put_death(running, event);
	else if (event->flags & SPOOLED_SCHED)
		put_sched(running, event, is_thread(event));
	else if (native_of(event) == NATIVE_THREAD_RESUME)
		put_resume(running, event);
	else if (is_thread(event))
		put_of_thread(running, event);
	else {
		charge(running, cpu, event->time_ns, event->context);
		put(running, view_of(running, cpu), event, 0);
	}
	if (event->flags & SPOOLED_GAP)
		put_gap(running, event->time_ns);
}

/*
 * In a file of N events, TraceX has memory for N / 2 status changes of each thread.  The time before the first change
 * counts as a change.  If a thread has more changes, add entries RUNNING at the end of the file until N is large
 * enough.  They give no time to any thread.  Their context is the thread that TraceX expects to run next, so the thread
 * of a SUSPEND at the end stays suspended.
 */
static void finish(struct running *running, unsigned int cpu)
{
	struct view *view = &running->view[cpu];

	release(running, view, running->idle);
	release_slice(running, view, running->idle);
	while (view->has_log && view->nr_entries < 2 * (view->most_changes + 1))
		put_running(running, view, cpu, view->last_ns, view->next ?: view->last_context);
}

static void find_idle(struct running *running)
{
	struct trx_objects *trx_objects = running->trx_objects;
	uint64_t known = map_find(&trx_objects->by_handle, NATIVE_IDLE_HANDLE);

	if (known && strcmp(trx_objects->object[known - 1].name, NATIVE_IDLE_NAME) == 0)
		running->idle = NATIVE_IDLE_HANDLE;
	else
		running->idle = trx_objects_add(trx_objects, 0, NATIVE_IDLE_HANDLE, OBJECT_THREAD, NATIVE_IDLE_NAME);
	thread_of(running, running->idle);
}

void running_add(struct sorter *from, struct sorter *to, struct trx_objects *trx_objects,
		 bool per_core)
{
	struct running *running = must(calloc(1, sizeof(*running)));
	struct sort_cursor *cursor = must(calloc(1, sizeof(*cursor)));
	const struct spooled *event;

	running->to = to;
	running->trx_objects = trx_objects;
	running->per_core = per_core;
	while ((event = sort_next(from, cursor))) {
		if (event->flags & SPOOLED_LOG && !running->idle)
			find_idle(running);
		put_event(running, event);
	}
	for (unsigned int i = 0; i < TRX_CPUS; i++)
		finish(running, i);
	map_free(&running->by_handle);
	map_free(&running->nr_changes);
	free(running->thread);
	free(running);
	free(cursor);
}
