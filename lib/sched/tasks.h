/* SPDX-License-Identifier: MIT */
/*
 * The threads that scheduling records are about, by tid: what each did last, as far as the records say.
 *
 * A pointer to a thread is valid until a thread is added or forgotten.  To visit all threads, take the buckets 0 to
 * nr_buckets - 1; a free one has the tid 0.
 */
#ifndef PX_SCHED_TASKS_H
#define PX_SCHED_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/sched.h"

struct px_task {
	uint32_t tid; /* 0: the entry is free */
	uint32_t pid;
	uint32_t state; /* enum px_sched_state */
	uint32_t cpu;
	char name[PX_SCHED_NAME];
};

/* Open addressing.  All zero, and px_tasks_grow(): a table without threads. */
struct px_tasks {
	struct px_task *bucket;
	size_t nr_buckets, nr;
};

/* Make room for more threads.  Return false if there is no memory. */
bool px_tasks_grow(struct px_tasks *tasks);

/* Return NULL if the thread is not known. */
struct px_task *px_tasks_find(const struct px_tasks *tasks, uint32_t tid);

/* Find a thread, or add it.  Return NULL if there is no memory. */
struct px_task *px_tasks_add(struct px_tasks *tasks, uint32_t pid, uint32_t tid);

/* Remove a thread of the table. */
void px_tasks_forget(struct px_tasks *tasks, struct px_task *task);

#endif
