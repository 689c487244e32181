/* SPDX-License-Identifier: MIT */
#include "report/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/calltable.h"
#include "trace/thread_time.h"

static uint64_t key_of(pid_t pid, pid_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

static struct counted_row *row_of(struct counted *counted, pid_t pid, pid_t tid, bool *is_new)
{
	uint64_t *known = map_get(&counted->row_of, key_of(pid, tid));

	*is_new = *known == 0;
	if (*is_new) {
		counted->row = must(reallocarray(counted->row, counted->nr_rows + 1, sizeof(*counted->row)));
		counted->row[counted->nr_rows++] = (struct counted_row){.pid = pid, .tid = tid};
		*known = counted->nr_rows;
	}
	return &counted->row[*known - 1];
}

/*
 * The kernel updates the count of a thread that runs only now and then, and others see it as it was.  So more time may
 * come than has passed since the count before: then the thread ran the rest of it before that count.
 */
static void add_ran(struct counted_row *row, int64_t at_ns, int64_t more_ns)
{
	int64_t most_ns = at_ns - row->ran_at_ns;

	if (more_ns > most_ns) {
		row->ran_from_ns += more_ns - most_ns;
		more_ns = most_ns;
	}
	row->ran_ns += more_ns;
	row->ran_at_ns = at_ns;
}

/*
 * A count of a thread.  If it is much smaller than the one before, another thread has got the id.  If it is a little
 * smaller, it comes from the other source of counts, and was read a moment before.
 */
static void take_ran(const struct counted *counted, struct counted_row *row, bool is_new, int64_t at_ns, int64_t ran_ns,
		     int64_t ready_ns)
{
	/* At the first counts of the log, a thread may have begun a moment before. */
	bool has_begun = map_find(&counted->began, key_of(row->pid, row->tid)) ||
			 (counted->has_first && at_ns > counted->first_ns);

	row->is_late |= is_new && has_begun && counted->events->begin <= 0;
	if (is_new || ran_ns < (row->ran_from_ns + row->ran_ns) / 2) {
		row->from_ns = at_ns;
		row->ran_from_ns = ran_ns;
		row->ready_from_ns = ready_ns;
		row->ran_ns = row->ready_ns = 0;
		row->ran_at_ns = at_ns;
	}
	if (ran_ns > row->ran_from_ns + row->ran_ns)
		add_ran(row, at_ns, ran_ns - row->ran_from_ns - row->ran_ns);
	row->until_ns = at_ns;
}

/*
 * A thread that executes another program has another handle from then on.  The kernel goes on to count, so the row of
 * the new program begins with the last count of the former.  What the stream reads of the time ready is seldom of the
 * same moment, so it is not known of which program it is.
 */
static void begin_program(struct counted *counted, uint64_t *known, unsigned int context)
{
	const struct counted_row former = counted->row[*known - 1];

	counted->row[*known - 1].is_part = true;
	counted->row[*known - 1].knows_ready = false;
	counted->row = must(reallocarray(counted->row, counted->nr_rows + 1, sizeof(*counted->row)));
	counted->row[counted->nr_rows++] = (struct counted_row){.pid = former.pid,
								.tid = former.tid,
								.context = context,
								.from_ns = former.until_ns,
								.until_ns = former.until_ns,
								.ran_from_ns = former.ran_from_ns + former.ran_ns,
								.ran_at_ns = former.ran_at_ns,
								.is_part = true};
	memcpy(counted->row[counted->nr_rows - 1].name, former.name, sizeof(former.name));
	*known = counted->nr_rows;
}

static void begin_thread(struct counted *counted, const struct txtrace_object *object, unsigned int context)
{
	uint64_t *known = map_get(&counted->row_of, key_of(object->pid, object->tid));
	unsigned int before = *known ? counted->row[*known - 1].context : 0;

	*map_get(&counted->began, key_of(object->pid, object->tid)) = 1;
	if (before != context && map_find(&counted->is_seen, before))
		*known = 0; /* that thread has ended */
}

/* The thread records with this handle.  What the counts of the kernel say of it may be too late or too early. */
static void note_handle(struct counted *counted, const struct txtrace_object *object, unsigned int context)
{
	uint64_t *known, *is_seen;

	if (context == counted->last_context)
		return;
	counted->last_context = context;
	is_seen = map_get(&counted->is_seen, context);
	known = map_get(&counted->row_of, key_of(object->pid, object->tid));
	if (*known && !*is_seen && map_find(&counted->is_seen, counted->row[*known - 1].context))
		begin_program(counted, known, context);
	else if (*known && !*is_seen)
		counted->row[*known - 1].context = context;
	*is_seen = 1;
}

/* What a thread says of itself: its handle, its beginning and its time, but not for how long it was ready. */
static void take_own(struct counted *counted, const struct event *event, int64_t at_ns)
{
	const struct txtrace_object *object = source_object(counted->events->source, event->context);
	struct thread_time time;
	struct counted_row *row;
	bool is_new;

	if (!object || object->type != OBJECT_THREAD)
		return;
	if (event->row && event->row == calltable_find("txtrace_thread_start"))
		begin_thread(counted, object, event->context);
	note_handle(counted, object, event->context);
	if (!thread_time_read(event, &time))
		return;
	row = row_of(counted, object->pid, object->tid, &is_new);
	if (is_new)
		row->context = event->context;
	take_ran(counted, row, is_new, at_ns, time.ran_ns, 0);
}

void counted_event(struct counted *counted, const struct event *event)
{
	const struct sched_record record = sched_read(event);
	int64_t at_ns = event->time_ns - counted->events->source->first_ns;
	struct counted_row *row;
	bool is_new;

	if (record.kind == SCHED_NONE && at_ns >= counted->events->begin && at_ns <= counted->events->end)
		take_own(counted, event, at_ns);
	if (record.kind == SCHED_CPU_TIME && !counted->has_first) {
		counted->has_first = true;
		counted->first_ns = at_ns;
	}
	if (record.kind != SCHED_CPU_TIME || at_ns < counted->events->begin || at_ns > counted->events->end)
		return;
	row = row_of(counted, record.counted.pid, record.counted.tid, &is_new);
	memcpy(row->name, record.counted.name, sizeof(row->name));
	if (row->context == 0)
		row->context = event->context;
	take_ran(counted, row, is_new, at_ns, (int64_t)record.counted.ran_ns, (int64_t)record.counted.ready_ns);
	row->knows_ready = !row->is_part;
	row->ready_ns = (int64_t)record.counted.ready_ns - row->ready_from_ns;
}

void counted_free(struct counted *counted)
{
	free(counted->row);
	map_free(&counted->row_of);
	map_free(&counted->began);
	map_free(&counted->is_seen);
}
