/* SPDX-License-Identifier: MIT */
#include "trx/running.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/native.h"
#include "trx/running_sched.h"
#include "trx/running_views.h"
#include "trx/running_waits.h"
#include "trx/trx.h"

static void put_resume(struct running *running, const struct spooled *event)
{
	uint32_t waker = event->flags & SPOOLED_NO_THREAD ? 0 : event->context;
	struct running_thread *thread;

	if (waker)
		running_thread(
			&running->threads,
			waker); /* register the waker now, because resume() must not reallocate thread[] */
	thread = running_thread(&running->threads, event->info[0]);
	thread->is_going = false;
	/* The record of the begin of this wait is missing, or a signal handler ran during the wait. */
	if (!thread->is_asleep)
		return;
	running_resume(running, event, thread, waker);
}

/* From here on it is unknown which threads run. */
static void put_gap(struct running *running, int64_t time_ns)
{
	for (unsigned int i = 0; i < running->threads.nr_cpus; i++) {
		uint32_t handle = running->threads.cpu[i].thread;

		if (!handle)
			continue;
		view_end_stay(running, running_thread(&running->threads, handle), time_ns);
		running_leave_cpu(&running->threads, running_thread(&running->threads, handle));
	}
}

static void put_of_thread(struct running *running, const struct spooled *event)
{
	unsigned int cpu = spooled_cpu(event);
	struct running_thread *thread = running_thread(&running->threads, event->context);

	if (thread->is_asleep)
		running_resume(running, event, thread, 0);
	if (thread->cpu != NO_CPU && thread->cpu != (int)cpu)
		view_end_stay(running, thread, event->time_ns);
	view_charge(running, cpu, event->time_ns, event->context);
	running_enter_cpu(&running->threads, thread, cpu);
	running->threads.cpu[cpu].last_ns = event->time_ns;
	thread->priority = event->priority;
	thread->has_ended = thread->is_waiting = thread->is_going = thread->is_ending = false;
	if (spooled_native(event) == NATIVE_THREAD_SUSPEND && event->info[0] == event->context) {
		if (running->per_core && running->has_records) {
			thread->is_ending = event->flags & SPOOLED_END;
			thread->is_waiting = thread->is_going = !thread->is_ending;
			thread->state = event->info[1];
		} else {
			running_suspend(running, event, thread);
		}
	} else
		view_put(running, view_of(running, cpu), event, 0);
}

/* If the thread did not run, the file shows already that it waits, or another thread on its CPU. */
static void put_death(struct running *running, const struct spooled *event)
{
	struct running_thread *thread = running_thread(&running->threads, event->context);
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
	suspend.id = (unsigned int)thread->cpu << CPU_SHIFT | spooled_native(event);
	suspend.priority = thread->priority;
	put_of_thread(running, &suspend);
}

static bool is_thread(const struct spooled *event)
{
	return !(event->flags & SPOOLED_NO_THREAD) && event->context != CONTEXT_INTERRUPT &&
	       event->context != CONTEXT_INITIALIZE;
}

static void put_foreign(struct running *running, const struct spooled *event)
{
	struct view *view = view_of(running, spooled_cpu(event));

	view_release(running, view, is_thread(event) ? event->context : running->threads.idle);
	view_put(running, view, event, 0);
}

static void put_event(struct running *running, const struct spooled *event)
{
	unsigned int cpu = spooled_cpu(event);

	if (cpu >= running->threads.nr_cpus)
		running->threads.nr_cpus = cpu + 1;
	if (event->flags & SPOOLED_MORE)
		view_store(running, view_of(running, cpu), event);
	else if (!(event->flags & SPOOLED_LOG))
		put_foreign(running, event);
	else if (event->flags & SPOOLED_DIES)
		put_death(running, event);
	else if (event->flags & SPOOLED_SCHED)
		running_sched(running, event, is_thread(event));
	else if (spooled_native(event) == NATIVE_THREAD_RESUME)
		put_resume(running, event);
	else if (is_thread(event))
		put_of_thread(running, event);
	else {
		view_charge(running, cpu, event->time_ns, event->context);
		view_put(running, view_of(running, cpu), event, 0);
	}
	if (event->flags & SPOOLED_GAP)
		put_gap(running, event->time_ns);
}

static void find_idle(struct running *running, struct trx_objects *trx_objects)
{
	uint64_t known = map_find(&trx_objects->by_handle, NATIVE_IDLE_HANDLE);

	if (known && strcmp(trx_objects->object[known - 1].name, NATIVE_IDLE_NAME) == 0)
		running->threads.idle = NATIVE_IDLE_HANDLE;
	else
		running->threads.idle = trx_objects_add(trx_objects, 0, NATIVE_IDLE_HANDLE,
							OBJECT_THREAD, NATIVE_IDLE_NAME);
	running_thread(&running->threads, running->threads.idle);
}

void running_add(struct sorter *from, struct sorter *to, struct trx_objects *trx_objects,
		 bool per_core)
{
	struct running *running = must(calloc(1, sizeof(*running)));
	struct sort_cursor *cursor = must(calloc(1, sizeof(*cursor)));
	const struct spooled *event;

	running->to = to;
	running->per_core = per_core;
	while ((event = sort_next(from, cursor))) {
		if (event->flags & SPOOLED_LOG && !running->threads.idle)
			find_idle(running, trx_objects);
		put_event(running, event);
	}
	for (unsigned int i = 0; i < TRX_CPUS; i++)
		view_finish(running, i);
	running_threads_free(&running->threads);
	map_free(&running->nr_changes);
	free(running);
	free(cursor);
}
