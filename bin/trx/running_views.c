/* SPDX-License-Identifier: MIT */
#include "trx/running_views.h"

#include "trace/native.h"

void view_store(struct running *running, struct view *view, const struct spooled *event)
{
	unsigned int native = spooled_native(event);

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

void view_release_slice(struct running *running, struct view *view, uint32_t next)
{
	const struct spooled *slice = &view->slice;
	struct spooled entry = {.time_ns = slice->time_ns,
				.context = CONTEXT_INTERRUPT,
				.priority = slice->context,
				.flags = SPOOLED_LOG};
	unsigned int cpu = spooled_cpu(slice) << CPU_SHIFT;

	if (!view->is_sliced)
		return;
	view->is_sliced = false;
	entry.id = cpu | NATIVE_ISR_ENTER;
	view_store(running, view, &entry);
	entry.id = cpu | NATIVE_TIME_SLICE;
	entry.info[0] = next;
	view_store(running, view, &entry);
	entry.id = cpu | NATIVE_ISR_EXIT;
	entry.info[0] = 0;
	view_store(running, view, &entry);
}

void view_put(struct running *running, struct view *view, const struct spooled *event,
	      uint32_t next)
{
	view_release_slice(running, view, running->threads.idle);
	view->has_last = true;
	view->is_foreign = !(event->flags & SPOOLED_LOG);
	view->last_context = event->context;
	view->last_ns = event->time_ns;
	view->next = next;
	view_store(running, view, event);
}

void view_release(struct running *running, struct view *view, uint32_t next)
{
	if (!view->is_held)
		return;
	view->is_held = false;
	view->held.info[3] = view->next = next;
	view_store(running, view, &view->held);
}

void view_put_running(struct running *running, struct view *view, unsigned int cpu, int64_t time_ns,
		      uint32_t context)
{
	const struct running_thread *thread = running_thread(&running->threads, context);
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

	view_put(running, view, &event, 0);
}

/* Return the context that gets the time between the last event of the view and an event of this context. */
static uint32_t choose_running(const struct running *running, const struct view *view,
			       unsigned int cpu, uint32_t context)
{
	if (running->per_core)
		return running->threads.cpu[cpu].thread ?: running->threads.idle;
	if (running_has_cpu(&running->threads, context))
		return context;
	return running_has_cpu(&running->threads, view->last_context) ?
		       view->last_context :
		       running_newest(&running->threads);
}

void view_charge(struct running *running, unsigned int cpu, int64_t time_ns, uint32_t context)
{
	struct view *view = view_of(running, cpu);
	uint32_t right, given;

	if (!view->has_last || view->is_foreign)
		return;
	right = choose_running(running, view, cpu, context);
	view_release(running, view, right);
	given = view->next ?: context;
	/* If the event names another next thread, TraceX would synthesize an entry RUNNING of this thread. */
	if (given != context && given != view->last_context)
		view_put_running(running, view, cpu, time_ns, given);
	else if (given != right && time_ns > view->last_ns)
		view_put_running(running, view, cpu, time_ns, right);
}

void view_settle(struct running *running, unsigned int cpu, int64_t time_ns)
{
	struct view *view = view_of(running, cpu);
	uint32_t ran = running->threads.cpu[cpu].thread ?: running->threads.idle;

	if (view->is_foreign)
		return;
	ran = choose_running(running, view, cpu, ran);
	view_charge(running, cpu, time_ns, ran);
	if (time_ns > view->last_ns)
		view_put_running(running, view, cpu, time_ns, ran);
}

void view_end_stay(struct running *running, const struct running_thread *thread, int64_t time_ns)
{
	unsigned int cpu = (unsigned int)thread->cpu;
	struct view *view = view_of(running, cpu);

	if (running->per_core && time_ns > view->last_ns)
		view_put_running(running, view, cpu, time_ns, thread->handle);
}

/*
 * In a file of N events, TraceX has memory for N / 2 status changes of each thread.  The time before the first change
 * counts as a change.  If a thread has more changes, add entries RUNNING at the end of the file until N is large
 * enough.  They give no time to any thread.  Their context is the thread that TraceX expects to run next, so the thread
 * of a SUSPEND at the end stays suspended.
 */
void view_finish(struct running *running, unsigned int cpu)
{
	struct view *view = &running->view[cpu];

	view_release(running, view, running->threads.idle);
	view_release_slice(running, view, running->threads.idle);
	while (view->has_log && view->nr_entries < 2 * (view->most_changes + 1))
		view_put_running(running, view, cpu, view->last_ns,
				 view->next ?: view->last_context);
}
