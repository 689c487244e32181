/* SPDX-License-Identifier: MIT */
#include "report/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"

static struct states_row *row_of(struct states *states, size_t index)
{
	if (index >= states->nr_rows) {
		states->row = must(reallocarray(states->row, index + 1, sizeof(*states->row)));
		memset(states->row + states->nr_rows, 0, (index + 1 - states->nr_rows) * sizeof(*states->row));
		states->nr_rows = index + 1;
	}
	return &states->row[index];
}

static uint64_t key_on(unsigned int context, unsigned int cpu)
{
	return (uint64_t)context << 32 | cpu;
}

/* A thread without a handle has a key of its own, which is no handle. */
static uint64_t key_without_handle(size_t row, unsigned int cpu)
{
	return UINT64_C(1) << 63 | (uint64_t)row << 16 | cpu;
}

static void add_to(struct map *map, uint64_t key, int64_t ns)
{
	uint64_t *value = map_get(map, key);
	int64_t sum = (int64_t)*value;

	units_add(&sum, ns);
	*value = (uint64_t)sum;
}

/* Add the part of a period that is in the range.  Its length is ns. */
static void note_depth(struct states *states, enum thread_state state, int64_t from_ns, int64_t ns)
{
	int64_t begin_ns = states->events->begin > 0 ? states->events->begin : 0;

	if (from_ns < begin_ns)
		from_ns = begin_ns;
	states->run_queue.begin_ns = begin_ns;
	run_queue_add(&states->run_queue, state, from_ns, from_ns + ns);
}

/* The thread ran from this time on: count how it got there, if this is in the range. */
static void note_switches(struct states *states, const struct sched_thread *thread, struct states_row *row,
			  int64_t from)
{
	uint64_t nr = thread->nr_switches - row->nr_seen;
	uint64_t nr_migrations = thread->nr_migrations - row->nr_seen_migrations;

	row->nr_seen = thread->nr_switches;
	row->nr_seen_migrations = thread->nr_migrations;
	if (from < states->events->begin || from > states->events->end)
		return;
	row->nr_switches += nr;
	row->nr_migrations += nr_migrations;
	*map_get(&states->switches_of_cpu, thread->cpu) += nr;
	*map_get(&states->switches_of_context, thread->context) += nr;
	*map_get(&states->migrations_of_context, thread->context) += nr_migrations;
}

void states_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter, enum thread_state state,
		  int64_t from_ns, int64_t until_ns)
{
	struct states *states = arg;
	struct states_row *row = row_of(states, thread->index);
	int64_t first_ns = states->events->source->first_ns;
	int64_t ns = report_events_clip(states->events, from_ns - first_ns, until_ns - first_ns);

	(void)waiter;
	if (state == THREAD_RUNNING)
		note_switches(states, thread, row, from_ns - first_ns);
	if (ns == 0)
		return;
	note_depth(states, state, from_ns - first_ns, ns);
	units_add(&row->times.ns[state], ns);
	if (state == THREAD_WOKEN)
		durations_add(&row->woken, until_ns - from_ns);
	if (state == THREAD_PREEMPTED)
		durations_add(&row->preempted, until_ns - from_ns);
	row->nr_blocked += state == THREAD_BLOCKED;
	if (state != THREAD_RUNNING)
		return;
	add_to(&states->time_of_cpu, thread->cpu, ns);
	add_to(&states->time_of_context,
	       thread->context != 0 ? key_on(thread->context, thread->cpu)
				    : key_without_handle(thread->index, thread->cpu),
	       ns);
}

void states_end(struct states *states, const struct thread_states *model)
{
	for (const struct sched_thread *at = model->first; at; at = at->next) {
		struct states_row *row = row_of(states, at->index);

		row->pid = at->pid;
		row->tid = at->tid;
		row->context = at->context;
		memcpy(row->name, at->name, sizeof(row->name));
	}
}

int64_t states_time_on(const struct states *states, unsigned int context, unsigned int cpu)
{
	return (int64_t)map_find(&states->time_of_context, key_on(context, cpu));
}

int64_t states_row_time_on(const struct states *states, size_t row, unsigned int cpu)
{
	return (int64_t)map_find(&states->time_of_context, key_without_handle(row, cpu));
}

void states_free(struct states *states)
{
	for (size_t i = 0; i < states->nr_rows; i++) {
		durations_free(&states->row[i].woken);
		durations_free(&states->row[i].preempted);
	}
	free(states->row);
	map_free(&states->time_of_cpu);
	map_free(&states->time_of_context);
	map_free(&states->switches_of_cpu);
	map_free(&states->switches_of_context);
	map_free(&states->migrations_of_context);
}
