/* SPDX-License-Identifier: MIT */
#include "waits/state_periods.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "base/memory.h"

/* The model tells the time blocked in a wait late.  Until then, `late` holds the later periods of the thread. */
struct order {
	bool has_begun;
	int64_t until_ns; /* the end of the last period that take() got */
	struct state_period *late;
	size_t nr_late, room;
};

struct reading {
	struct source *source;
	const struct selection *selection;
	void (*take)(void *arg, const struct state_period *period);
	void *arg;
	struct order *order; /* the index is that of the thread */
	size_t nr_orders;
	bool has_range;
	int64_t from_ns, until_ns;
};

/* A relative time counts from the first event, so the range is known when the first event was read. */
static void find_range(struct reading *reading)
{
	const struct selection *selection = reading->selection;

	reading->has_range = true;
	reading->from_ns = selection->from.is_set ? time_arg_ns(&selection->from, reading->source) : INT64_MIN;
	reading->until_ns = selection->until.is_set ? time_arg_ns(&selection->until, reading->source) : INT64_MAX;
}

static void give(struct reading *reading, struct order *order, const struct state_period *period)
{
	struct state_period clipped = *period;

	if (!reading->has_range)
		find_range(reading);
	order->until_ns = period->until_ns;
	if (clipped.from_ns < reading->from_ns)
		clipped.from_ns = reading->from_ns;
	if (clipped.until_ns > reading->until_ns)
		clipped.until_ns = reading->until_ns;
	if (clipped.until_ns > clipped.from_ns)
		reading->take(reading->arg, &clipped);
}

static struct order *order_of(struct reading *reading, const struct sched_thread *thread)
{
	struct order *order;

	if (thread->index >= reading->nr_orders) {
		size_t nr = 2 * thread->index + 64;

		reading->order = must(reallocarray(reading->order, nr, sizeof(*reading->order)));
		memset(reading->order + reading->nr_orders, 0, (nr - reading->nr_orders) * sizeof(*reading->order));
		reading->nr_orders = nr;
	}
	order = &reading->order[thread->index];
	if (!order->has_begun)
		order->until_ns = thread->begin_ns;
	order->has_begun = true;
	return order;
}

static void keep(struct order *order, const struct state_period *period)
{
	if (order->nr_late == order->room) {
		order->room = order->room ? 2 * order->room : 8;
		order->late = must(reallocarray(order->late, order->room, sizeof(*order->late)));
	}
	order->late[order->nr_late++] = *period;
}

/* The periods in `late` are in the order of time.  Give those that have no other period before them. */
static void give_late(struct reading *reading, struct order *order)
{
	size_t nr = 0;

	while (nr < order->nr_late && order->late[nr].from_ns <= order->until_ns)
		give(reading, order, &order->late[nr++]);
	order->nr_late -= nr;
	if (nr > 0)
		memmove(order->late, order->late + nr, order->nr_late * sizeof(*order->late));
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct reading *reading = arg;
	struct order *order = order_of(reading, thread);
	struct state_period period = {.thread = thread,
				      .context = thread->context,
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
	give(reading, order, &period);
	give_late(reading, order);
}

bool state_periods_read(struct source *source, const struct selection *selection,
			void (*take)(void *arg, const struct state_period *period), void *arg)
{
	struct reading reading = {.source = source, .selection = selection, .take = take, .arg = arg};
	const struct waits_listener listener = {.arg = &reading, .spent = take_spent};
	struct waits waits;
	bool has_records;
	int is_asked = 0;

	if (source->file.foreign || txtrace_attr_getsched(&source->attr, &is_asked) != 0 || !is_asked)
		return false;
	waits_read(&waits, source, selection, &listener);
	for (size_t i = 0; i < reading.nr_orders; i++) {
		for (size_t k = 0; k < reading.order[i].nr_late; k++)
			give(&reading, &reading.order[i], &reading.order[i].late[k]);
		free(reading.order[i].late);
	}
	has_records = waits.states.has_records;
	free(reading.order);
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
