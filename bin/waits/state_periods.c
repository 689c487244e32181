/* SPDX-License-Identifier: MIT */
#include "waits/state_periods.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/memory.h"

/* The model tells the time blocked in a wait late.  Until then, `late` holds the later periods of the thread. */
struct state_order {
	bool has_begun;
	int64_t until_ns; /* the end of the last period that take() got */
	struct state_period *late;
	size_t nr_late, room;
};

static void give(struct state_periods *periods, struct state_order *order, const struct state_period *period)
{
	struct state_period clipped = *period;

	if (!periods->has_range)
		periods->range = selection_range(periods->selection, periods->source);
	periods->has_range = true;
	order->until_ns = period->until_ns;
	if (clipped.from_ns < periods->range.from_ns)
		clipped.from_ns = periods->range.from_ns;
	if (clipped.until_ns > periods->range.until_ns)
		clipped.until_ns = periods->range.until_ns;
	if (clipped.until_ns > clipped.from_ns)
		periods->take(periods->arg, &clipped);
}

static struct state_order *order_of(struct state_periods *periods, const struct sched_thread *thread)
{
	struct state_order *order;

	if (thread->index >= periods->nr_orders) {
		size_t nr = 2 * thread->index + 64;

		periods->order = must(reallocarray(periods->order, nr, sizeof(*periods->order)));
		memset(periods->order + periods->nr_orders, 0, (nr - periods->nr_orders) * sizeof(*periods->order));
		periods->nr_orders = nr;
	}
	order = &periods->order[thread->index];
	if (!order->has_begun)
		order->until_ns = thread->begin_ns;
	order->has_begun = true;
	return order;
}

static void keep(struct state_order *order, const struct state_period *period)
{
	if (order->nr_late == order->room) {
		order->room = order->room ? 2 * order->room : 8;
		order->late = must(reallocarray(order->late, order->room, sizeof(*order->late)));
	}
	order->late[order->nr_late++] = *period;
}

/* The periods in `late` are in the order of time.  Give those that have no other period before them. */
static void give_late(struct state_periods *periods, struct state_order *order)
{
	size_t nr = 0;

	while (nr < order->nr_late && order->late[nr].from_ns <= order->until_ns)
		give(periods, order, &order->late[nr++]);
	order->nr_late -= nr;
	if (nr > 0)
		memmove(order->late, order->late + nr, order->nr_late * sizeof(*order->late));
}

void state_periods_begin(struct state_periods *periods, struct source *source, const struct selection *selection,
			 void (*take)(void *arg, const struct state_period *period), void *arg)
{
	*periods = (struct state_periods){.source = source, .selection = selection, .take = take, .arg = arg};
}

void state_periods_spent(struct state_periods *periods, const struct sched_thread *thread, const struct waiter *waiter,
			 enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct state_order *order = order_of(periods, thread);
	struct state_period period = {.thread = thread,
				      .context = thread->context,
				      .has_events = waiter != NULL,
				      .state = state,
				      .cpu = thread->cpu,
				      .from_ns = from_ns,
				      .until_ns = until_ns};

	if (state == THREAD_BLOCKED && thread->is_in_wait && waiter && waiter->wait.begin_ns <= from_ns)
		period.object = waiter->wait.object;
	if (from_ns > order->until_ns) {
		keep(order, &period);
		return;
	}
	give(periods, order, &period);
	give_late(periods, order);
}

void state_periods_end(struct state_periods *periods)
{
	for (size_t i = 0; i < periods->nr_orders; i++) {
		for (size_t k = 0; k < periods->order[i].nr_late; k++)
			give(periods, &periods->order[i], &periods->order[i].late[k]);
		free(periods->order[i].late);
	}
	free(periods->order);
	periods->order = NULL;
	periods->nr_orders = 0;
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	state_periods_spent(arg, thread, waiter, state, from_ns, until_ns);
}

bool state_periods_read(struct source *source, const struct selection *selection,
			void (*take)(void *arg, const struct state_period *period), void *arg)
{
	struct state_periods periods;
	const struct waits_listener listener = {.arg = &periods, .spent = take_spent};
	struct waits waits;
	bool has_records;
	int is_asked = 0;

	if (source->file.foreign || txtrace_attr_getsched(&source->attr, &is_asked) != 0 || !is_asked)
		return false;
	state_periods_begin(&periods, source, selection, take, arg);
	waits_read(&waits, source, selection, &listener);
	state_periods_end(&periods);
	has_records = waits.states.has_records;
	waits_free(&waits);
	return has_records;
}

const char *state_period_name(enum thread_state state)
{
	switch (state) {
	case THREAD_RUNNING:
		return "running";
	case THREAD_PREEMPTED:
	case THREAD_WOKEN:
		return "ready";
	case THREAD_BLOCKED:
		return "blocked";
	default:
		return "not known";
	}
}
