/* SPDX-License-Identifier: MIT */
#include "report/run_queue.h"

#include "base/units.h"

#define FIRST_WIDTH_NS 1000

static void merge(int64_t ns[RUN_QUEUE_ROWS], size_t factor)
{
	for (size_t i = 0; i < RUN_QUEUE_ROWS; i++) {
		int64_t sum = 0;

		for (size_t k = i * factor; k < (i + 1) * factor && k < RUN_QUEUE_ROWS; k++)
			units_add(&sum, ns[k]);
		ns[i] = sum;
	}
}

/* Widths are 1, 5, 10, 50 us and so on. */
static void grow(struct run_queue *queue)
{
	size_t factor = queue->is_five ? 2 : 5;

	queue->is_five = !queue->is_five;
	queue->width_ns *= (int64_t)factor;
	merge(queue->ready_ns, factor);
	merge(queue->running_ns, factor);
	merge(queue->unknown_ns, factor);
}

void run_queue_add(struct run_queue *queue, enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	int64_t *sums = state == THREAD_RUNNING ? queue->running_ns :
			state == THREAD_UNKNOWN ? queue->unknown_ns :
						  queue->ready_ns;

	if (queue->width_ns == 0)
		queue->width_ns = FIRST_WIDTH_NS;
	if (until_ns > queue->end_ns)
		queue->end_ns = until_ns;
	while ((until_ns - queue->begin_ns) / queue->width_ns >= RUN_QUEUE_ROWS)
		grow(queue);
	while (state != THREAD_BLOCKED && from_ns < until_ns) {
		int64_t row = (from_ns - queue->begin_ns) / queue->width_ns;
		int64_t end_ns = queue->begin_ns + (row + 1) * queue->width_ns;

		if (end_ns > until_ns)
			end_ns = until_ns;
		units_add(&sums[row], end_ns - from_ns);
		from_ns = end_ns;
	}
}

size_t run_queue_rows(const struct run_queue *queue)
{
	return queue->width_ns == 0 ?
		       0 :
		       (size_t)((queue->end_ns - queue->begin_ns + queue->width_ns - 1) / queue->width_ns);
}

int64_t run_queue_length(const struct run_queue *queue, size_t row)
{
	int64_t from_ns = queue->begin_ns + (int64_t)row * queue->width_ns;

	return queue->end_ns - from_ns < queue->width_ns ? queue->end_ns - from_ns : queue->width_ns;
}
