/* SPDX-License-Identifier: MIT */
#include "waits/convoys.h"

#include "base/units.h"

#define CONVOY_TURNS 10
#define CONVOY_PART 5

static bool is_convoy(const struct queue *queue)
{
	return queue->nr_turns >= CONVOY_TURNS &&
	       queue->longest_ns <= (queue->end_ns - queue->begin_ns) / CONVOY_PART;
}

static void end_queue(struct convoys *convoys)
{
	struct queue *queue = &convoys->queue;

	if (queue->runs && is_convoy(queue)) {
		convoys->nr++;
		if (queue->end_ns - queue->begin_ns > convoys->longest.end_ns - convoys->longest.begin_ns)
			convoys->longest = *queue;
	}
	queue->runs = false;
}

/* End the period if it has had too few waiters for too long.  Call this before the waiters or the turns change. */
static void check_queue(struct convoys *convoys, int64_t at_ns)
{
	struct queue *queue = &convoys->queue;

	if (queue->runs && queue->is_ending && at_ns - queue->end_ns > queue->longest_ns)
		end_queue(convoys);
}

void convoys_change_waiters(struct convoys *convoys, int64_t at_ns, int by)
{
	struct queue *queue = &convoys->queue;

	check_queue(convoys, at_ns);
	convoys->nr_waiters += (unsigned int)by;
	if (convoys->nr_waiters > convoys->most_waiters)
		convoys->most_waiters = convoys->nr_waiters;
	if (convoys->nr_waiters >= CONVOY_WAITERS) {
		if (!queue->runs)
			*queue = (struct queue){.runs = true, .begin_ns = at_ns};
		queue->is_ending = false;
	} else if (queue->runs && !queue->is_ending) {
		queue->is_ending = true;
		queue->end_ns = at_ns;
	}
	if (convoys->nr_waiters > queue->most_waiters)
		queue->most_waiters = convoys->nr_waiters;
}

void convoys_add_turn(struct convoys *convoys, int64_t since_ns, int64_t length_ns, int64_t at_ns)
{
	struct queue *queue = &convoys->queue;

	check_queue(convoys, at_ns);
	if (!queue->runs || since_ns < queue->begin_ns)
		return;
	queue->nr_turns++;
	units_add(&queue->held_ns, length_ns);
	if (length_ns > queue->longest_ns)
		queue->longest_ns = length_ns;
}

void convoys_end(struct convoys *convoys, int64_t at_ns)
{
	if (convoys->queue.runs && !convoys->queue.is_ending)
		convoys->queue.end_ns = at_ns;
	end_queue(convoys);
}
