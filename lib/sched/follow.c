/* SPDX-License-Identifier: MIT */
#include "sched/follow.h"

#include <string.h>

void px_sched_make_thread(struct px_sched_event *event, uint32_t id, uint64_t time_ns, const struct px_task *task,
			uint32_t state)
{
	*event = (struct px_sched_event){.time_ns = time_ns,
					 .id = id,
					 .cpu = task->cpu,
					 .pid = task->pid,
					 .tid = task->tid,
					 .length = PX_SCHED_SWITCH_BYTES,
					 .data.thread = {.tid = task->tid,
							 .pid = task->pid,
							 .cpu = task->cpu,
							 .state = state}};
	if (id != PX_EVENT_SCHED_THREAD)
		return;
	event->length = sizeof(event->data.thread);
	memcpy(event->data.thread.name, task->name, sizeof(task->name));
}

/* The kernel lost records of this CPU: only what runs on other CPUs is known. */
static bool begin_gap(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	for (size_t i = 0; i < tasks->nr_buckets; i++) {
		struct px_task *task = &tasks->bucket[i];

		if (task->state != PX_SCHED_RUNNING || task->cpu == record->cpu)
			task->state = PX_SCHED_UNKNOWN;
	}
	*event = (struct px_sched_event){.time_ns = record->time_ns,
					 .id = PX_EVENT_SCHED_GAP,
					 .cpu = record->cpu,
					 .length = sizeof(event->data.gap),
					 .data.gap = {.cpu = record->cpu}};
	return true;
}

static bool end_gap(const struct px_perf_record *record, struct px_sched_event *event)
{
	*event = (struct px_sched_event){
		.time_ns = record->time_ns,
		.id = PX_EVENT_SCHED_GAP,
		.cpu = record->cpu,
		.length = sizeof(event->data.gap),
		.data.gap = {.nr_lost = record->nr_lost, .cpu = record->cpu, .ends = 1}};
	return true;
}

static bool switch_in(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_add(tasks, record->pid, record->tid);

	if (!task || task->state == PX_SCHED_RUNNING)
		return false;
	task->state = PX_SCHED_RUNNING;
	task->cpu = record->cpu;
	px_sched_make_thread(event, PX_EVENT_SWITCH_IN, record->time_ns, task, PX_SCHED_RUNNING);
	return true;
}

static bool switch_out(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_add(tasks, record->pid, record->tid);

	if (!task || task->state == PX_SCHED_READY || task->state == PX_SCHED_BLOCKED)
		return false;
	task->state = record->is_ready ? PX_SCHED_READY : PX_SCHED_BLOCKED;
	task->cpu = record->cpu;
	px_sched_make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, task, task->state);
	return true;
}

static bool create(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	const struct px_task *known = px_tasks_find(tasks, record->tid), *process = px_tasks_find(tasks, record->pid);
	struct px_task *task;
	char name[PX_SCHED_NAME] = "";

	if (known)
		return false;
	if (process)
		memcpy(name, process->name, sizeof(name));
	task = px_tasks_add(tasks, record->pid, record->tid);
	if (!task)
		return false;
	task->state = PX_SCHED_READY;
	memcpy(task->name, name, sizeof(name));
	px_sched_make_thread(event, PX_EVENT_SCHED_THREAD, record->time_ns, task, PX_SCHED_READY);
	return true;
}

static bool end_thread(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_find(tasks, record->tid);

	if (!task)
		return false;
	px_sched_make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, task, PX_SCHED_ENDED);
	px_tasks_forget(tasks, task);
	return true;
}

static bool rename_thread(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_add(tasks, record->pid, record->tid);

	if (!task)
		return false;
	memcpy(task->name, record->name, sizeof(task->name));
	px_sched_make_thread(event, PX_EVENT_SCHED_THREAD, record->time_ns, task, task->state);
	return true;
}

/*
 * If a thread other than the first calls exec, it takes the id of the first one, which has ended like all others.  The
 * kernel reports no end of its own old id.
 */
static bool execute(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	for (size_t i = 0; i < tasks->nr_buckets; i++) {
		struct px_task *task = &tasks->bucket[i];

		if (task->tid == 0 || task->pid != record->pid || task->tid == record->tid)
			continue;
		px_sched_make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, task, PX_SCHED_ENDED);
		px_tasks_forget(tasks, task);
		return true;
	}
	return false;
}

/* The thread with the id of the process runs: it has just got this id, or had it before. */
static bool follow_exec(struct px_tasks *tasks, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_add(tasks, record->pid, record->tid);

	if (!task)
		return false;
	task->state = PX_SCHED_RUNNING;
	task->cpu = record->cpu;
	return rename_thread(tasks, record, event);
}

static bool set_initial(struct px_tasks *tasks, const struct px_queued *queued, struct px_sched_event *event)
{
	struct px_task *task = px_tasks_find(tasks, queued->record.tid);

	if (!task)
		return false;
	if (task->name[0] == '\0')
		memcpy(task->name, queued->record.name, sizeof(task->name));
	if (task->state == PX_SCHED_UNKNOWN)
		task->state = queued->initial;
	px_sched_make_thread(event, PX_EVENT_SCHED_THREAD, queued->record.time_ns, task, task->state);
	return true;
}

/* Return true if the record is an event for the log. */
static bool apply(struct px_tasks *tasks, const struct px_queued *queued, struct px_sched_event *event)
{
	const struct px_perf_record *record = &queued->record;

	if (queued->initial != PX_SCHED_UNKNOWN)
		return set_initial(tasks, queued, event);
	switch (record->kind) {
	case PX_PERF_IN:
		return switch_in(tasks, record, event);
	case PX_PERF_OUT:
		return switch_out(tasks, record, event);
	case PX_PERF_FORK:
		return create(tasks, record, event);
	case PX_PERF_EXIT:
		return end_thread(tasks, record, event);
	case PX_PERF_GAP_BEGINS:
		return begin_gap(tasks, record, event);
	case PX_PERF_GAP_ENDS:
		return end_gap(record, event);
	case PX_PERF_EXEC:
		return follow_exec(tasks, record, event);
	default:
		return rename_thread(tasks, record, event);
	}
}

enum px_followed px_sched_follow(struct px_tasks *tasks, const struct px_queued *queued, struct px_sched_event *event)
{
	if (queued->record.kind == PX_PERF_EXEC && execute(tasks, &queued->record, event))
		return PX_FOLLOWED_MORE;
	return apply(tasks, queued, event) ? PX_FOLLOWED_EVENT : PX_FOLLOWED_SILENT;
}
