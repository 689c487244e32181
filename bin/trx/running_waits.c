/* SPDX-License-Identifier: MIT */
#include "trx/running_waits.h"

#include "trace/native.h"

void running_resume(struct running *running, const struct spooled *cause,
		    struct running_thread *thread, uint32_t waker)
{
	unsigned int cpu = running->per_core ? (unsigned int)thread->asleep_cpu :
					       spooled_cpu(cause);
	const struct running_thread *by = waker && waker != thread->handle ?
						  running_thread(&running->threads, waker) :
						  NULL;
	struct spooled event = {.time_ns = cause->time_ns,
				.id = cpu << CPU_SHIFT | NATIVE_THREAD_RESUME,
				.info = {thread->handle, thread->state},
				.flags = SPOOLED_LOG};

	if (by && !by->is_asleep && !by->has_ended &&
	    (!running->per_core || running->threads.cpu[cpu].thread == waker)) {
		event.context = event.info[3] = waker;
		event.priority = by->priority;
	} else {
		event.context = running->threads.idle;
		event.priority = HAS_THRESHOLD;
		event.info[3] = thread->handle;
		if (running->per_core && spooled_cpu(cause) != cpu)
			event.info[3] = running->threads.cpu[cpu].thread ?: running->threads.idle;
	}
	/*
	 * The thread takes a CPU that no thread has.  TraceX counts a RESUME as a preemption if another thread runs
	 * after it than before it, so the entry is of the thread itself.
	 */
	if (running->per_core && running->has_records && event.info[3] == thread->handle) {
		event.context = thread->handle;
		event.priority = thread->priority;
	}
	view_charge(running, cpu, event.time_ns, event.context);
	if (running->per_core && spooled_cpu(cause) != cpu)
		/*
		 * The end of the call is in the file of another CPU.  So the SUSPEND would stay without an end in this
		 * file, unless an entry RUNNING follows it.
		 */
		view_put_running(running, view_of(running, cpu), cpu, event.time_ns,
				 running->threads.cpu[cpu].thread ?: running->threads.idle);
	thread->is_asleep = thread->is_blocked = thread->is_going = false;
	view_put(running, view_of(running, cpu), &event, event.info[3]);
}

void running_suspend(struct running *running, const struct spooled *event,
		     struct running_thread *thread)
{
	struct view *view = view_of(running, spooled_cpu(event));
	struct spooled suspend = *event;

	running_leave_cpu(&running->threads, thread);
	thread->is_going = false;
	thread->has_ended = event->flags & SPOOLED_END;
	thread->is_asleep = !thread->has_ended;
	thread->is_waiting = true;
	thread->state = event->info[1];
	thread->asleep_cpu = (int)spooled_cpu(event);
	if (running->per_core) {
		suspend.info[3] = running->threads.idle;
		view_put(running, view, &suspend, running->threads.idle);
		return;
	}
	view->has_last = view->is_held = true;
	view->is_foreign = false;
	view->last_context = suspend.context;
	view->last_ns = suspend.time_ns;
	view->held = suspend;
}
