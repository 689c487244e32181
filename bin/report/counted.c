/* SPDX-License-Identifier: MIT */
#include "report/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct counted_row *row_of(struct counted *counted, const struct txtrace_cpu_time *time, bool *is_new)
{
	uint64_t *known = map_get(&counted->row_of, (uint64_t)(uint32_t)time->pid << 32 | (uint32_t)time->tid);

	*is_new = *known == 0;
	if (*is_new) {
		counted->row = must(reallocarray(counted->row, counted->nr_rows + 1, sizeof(*counted->row)));
		counted->row[counted->nr_rows++] = (struct counted_row){.pid = time->pid, .tid = time->tid};
		*known = counted->nr_rows;
	}
	return &counted->row[*known - 1];
}

void counted_event(struct counted *counted, const struct event *event)
{
	const struct sched_record record = sched_read(event);
	int64_t at_ns = event->time_ns - counted->events->source->first_ns;
	struct counted_row *row;
	bool is_new;

	if (record.kind == SCHED_CPU_TIME && !counted->has_first) {
		counted->has_first = true;
		counted->first_ns = at_ns;
	}
	if (record.kind != SCHED_CPU_TIME || at_ns < counted->events->begin || at_ns > counted->events->end)
		return;
	row = row_of(counted, &record.counted, &is_new);
	memcpy(row->name, record.counted.name, sizeof(row->name));
	if (event->context != 0)
		row->context = event->context;
	/* If the numbers fall, another thread has got the id. */
	if (is_new || (int64_t)record.counted.ran_ns < row->ran_from_ns + row->ran_ns) {
		row->from_ns = at_ns;
		row->ran_from_ns = (int64_t)record.counted.ran_ns;
		row->ready_from_ns = (int64_t)record.counted.ready_ns;
	}
	row->is_late |= is_new && at_ns > counted->first_ns && counted->events->begin <= 0;
	row->until_ns = at_ns;
	row->ran_ns = (int64_t)record.counted.ran_ns - row->ran_from_ns;
	row->ready_ns = (int64_t)record.counted.ready_ns - row->ready_from_ns;
}

void counted_free(struct counted *counted)
{
	free(counted->row);
	map_free(&counted->row_of);
}
