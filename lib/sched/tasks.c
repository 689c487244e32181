/* SPDX-License-Identifier: MIT */
#include "sched/tasks.h"

#include <stdlib.h>

#define BUCKETS_MIN 256

static size_t home_of(const struct px_tasks *tasks, uint32_t tid)
{
	return (tid * UINT32_C(2654435761)) & (tasks->nr_buckets - 1);
}

struct px_task *px_tasks_find(const struct px_tasks *tasks, uint32_t tid)
{
	for (size_t i = home_of(tasks, tid);; i = (i + 1) & (tasks->nr_buckets - 1)) {
		if (tasks->bucket[i].tid == tid)
			return &tasks->bucket[i];
		if (tasks->bucket[i].tid == 0)
			return NULL;
	}
}

static struct px_task *insert(struct px_tasks *tasks, const struct px_task *task)
{
	size_t i = home_of(tasks, task->tid);

	while (tasks->bucket[i].tid != 0)
		i = (i + 1) & (tasks->nr_buckets - 1);
	tasks->bucket[i] = *task;
	tasks->nr++;
	return &tasks->bucket[i];
}

bool px_tasks_grow(struct px_tasks *tasks)
{
	size_t nr = tasks->nr_buckets ? 2 * tasks->nr_buckets : BUCKETS_MIN, nr_old = tasks->nr_buckets;
	struct px_task *bucket = calloc(nr, sizeof(*bucket)), *old = tasks->bucket;

	if (!bucket)
		return false;
	tasks->bucket = bucket;
	tasks->nr_buckets = nr;
	tasks->nr = 0;
	for (size_t i = 0; i < nr_old; i++)
		if (old[i].tid != 0)
			insert(tasks, &old[i]);
	free(old);
	return true;
}

struct px_task *px_tasks_add(struct px_tasks *tasks, uint32_t pid, uint32_t tid)
{
	struct px_task *known = px_tasks_find(tasks, tid);

	if (known)
		return known;
	if (2 * (tasks->nr + 1) > tasks->nr_buckets && !px_tasks_grow(tasks))
		return NULL;
	return insert(tasks, &(struct px_task){.tid = tid, .pid = pid});
}

/* Remove a thread, and move those behind it that its place kept from their own. */
void px_tasks_forget(struct px_tasks *tasks, struct px_task *task)
{
	size_t hole = (size_t)(task - tasks->bucket), mask = tasks->nr_buckets - 1;

	for (size_t i = (hole + 1) & mask; tasks->bucket[i].tid != 0; i = (i + 1) & mask) {
		if (((i - home_of(tasks, tasks->bucket[i].tid)) & mask) < ((i - hole) & mask))
			continue;
		tasks->bucket[hole] = tasks->bucket[i];
		hole = i;
	}
	tasks->bucket[hole].tid = 0;
	tasks->nr--;
}
