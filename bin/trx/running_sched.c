/* SPDX-License-Identifier: MIT */
#include "trx/running_sched.h"

#include "trace/native.h"
#include "trx/running_waits.h"

#define STATE_COMPLETED 1u /* the thread has ended */
#define STATE_SUSPENDED 3u /* a wait of which no call is known */
#define SWITCH_NS 5000	   /* the kernel switches between two threads of the program in this time */

/*
 * In a file of all CPUs, a wait ends with the end of its call, so a thread that gets the CPU before does not run yet.
 * In a file of one CPU, the wait ends here.
 */
static void put_switch_in(struct running *running, const struct spooled *event)
{
	unsigned int cpu = spooled_cpu(event);
	struct view *view = view_of(running, cpu);
	struct running_thread *thread = running_thread(&running->threads, event->context);

	if (thread->cpu == (int)cpu)
		return;
	if (view->is_sliced && event->time_ns - view->slice.time_ns <= SWITCH_NS)
		view_release_slice(running, view, thread->handle);
	if (thread->is_blocked || (running->per_core && thread->is_asleep))
		running_resume(running, event, thread, 0);
	if (thread->is_waiting && (!running->per_core || thread->has_ended))
		return;
	if (thread->cpu != NO_CPU && thread->cpu != (int)cpu)
		view_end_stay(running, thread, event->time_ns);
	view_settle(running, cpu, event->time_ns);
	running_enter_cpu(&running->threads, thread, cpu);
	running->threads.cpu[cpu].last_ns = event->time_ns;
}

/* In a file of all CPUs, which TraceX takes for one CPU, these entries would have no meaning. */
static void put_slice(struct running *running, const struct spooled *event)
{
	struct view *view = view_of(running, spooled_cpu(event));

	view->slice = *event;
	view->is_sliced = true;
	view->last_context = CONTEXT_INTERRUPT;
	view->next = 0;
}

static void put_block(struct running *running, const struct spooled *event,
		      struct running_thread *thread)
{
	bool ends = event->flags & SPOOLED_END, is_in_call = thread->is_waiting;
	uint32_t state = ends ? STATE_COMPLETED : is_in_call ? thread->state : STATE_SUSPENDED;
	struct spooled suspend = {.time_ns = event->time_ns,
				  .context = thread->handle,
				  .priority = thread->priority,
				  .id = spooled_cpu(event) << CPU_SHIFT | NATIVE_THREAD_SUSPEND,
				  .info = {thread->handle, state},
				  .flags = event->flags & (SPOOLED_LOG | SPOOLED_END)};

	running_suspend(running, &suspend, thread);
	thread->is_blocked = !ends && !is_in_call;
	thread->is_waiting = ends || is_in_call;
}

/* No record will say when the thread is blocked in the wait that it has begun. */
static void put_going(struct running *running, unsigned int cpu, const struct spooled *event)
{
	struct spooled out = {.time_ns = event->time_ns,
			      .id = cpu << CPU_SHIFT,
			      .flags = event->flags & SPOOLED_LOG};
	uint32_t handle = running->threads.cpu[cpu].thread;

	if (!handle || !(running_thread(&running->threads, handle)->is_going ||
			 running_thread(&running->threads, handle)->is_ending))
		return;
	if (running_thread(&running->threads, handle)->is_ending)
		out.flags |= SPOOLED_END;
	view_settle(running, cpu, event->time_ns);
	put_block(running, &out, running_thread(&running->threads, handle));
}

static void put_switch_out(struct running *running, const struct spooled *event)
{
	unsigned int cpu = spooled_cpu(event);
	struct running_thread *thread = running_thread(&running->threads, event->context);

	if (thread->cpu != (int)cpu)
		return;
	view_settle(running, cpu, event->time_ns);
	if (running->per_core && event->flags & SPOOLED_SLICE)
		put_slice(running, event);
	else if (running->per_core)
		put_block(running, event, thread);
	running_leave_cpu(&running->threads, thread);
}

void running_sched(struct running *running, const struct spooled *event, bool has_thread)
{
	unsigned int cpu = spooled_cpu(event);
	struct view *view = view_of(running, cpu);

	if (event->flags & SPOOLED_LOST)
		put_going(running, cpu, event);
	for (unsigned int i = 0; event->flags & SPOOLED_LAST && i < running->threads.nr_cpus; i++)
		put_going(running, i, event);
	running->has_records = !(event->flags & SPOOLED_LAST);
	/* A file begins with the first record of its CPU. */
	if (!view->has_last)
		view_put_running(running, view, cpu, event->time_ns, running->threads.idle);
	if (has_thread && event->flags & SPOOLED_IN)
		put_switch_in(running, event);
	else if (has_thread && event->flags & (SPOOLED_OUT | SPOOLED_SLICE))
		put_switch_out(running, event);
	else if (event->flags & SPOOLED_LOST && running->threads.cpu[cpu].thread) {
		view_settle(running, cpu, event->time_ns);
		running_leave_cpu(
			&running->threads,
			running_thread(&running->threads, running->threads.cpu[cpu].thread));
	}
}
