/* SPDX-License-Identifier: MIT */
/* Which thread used the CPU: the viewer charges the time before an entry to the context of the entry. */
#include "log/log_private.h"

bool px_log_is_beside(const struct px_log *log, const struct px_record *record)
{
	return (record->id == PX_EVENT_START && log->ran != 0) ||
	       record->id == PX_EVENT_FLUSH_START || record->id == PX_EVENT_FLUSH_STOP ||
	       px_event_is_sched(record->id) ||
	       (record->id < PX_EVENT_UNNAMED && (record->context == PX_NO_THREAD || record->context == 0));
}

void px_log_give_time(struct px_log *log, const struct px_entry *first)
{
	for (uint32_t i = log->switched; i > 0 && i <= log->nr_staged; i++) {
		struct px_txtb_entry *entry = &log->entries[i - 1];

		if ((entry->id & 0xFFFF) != PX_TXTB_RUNNING || entry->context == PX_IDLE_THREAD)
			continue;
		entry->context = first->context;
		entry->priority = first->priority;
	}
	log->switched = 0;
}

/* The thread that ran has lost its CPU: choose one that has another CPU, or "idle". */
static void choose_other(struct px_log *log)
{
	log->ran = PX_IDLE_THREAD;
	log->ran_priority = px_txtb_priority_word(PX_PSEUDO_PRIORITY);
	for (uint32_t i = 0; i < PX_LOG_CPUS && log->header.attr.sched; i++)
		if (log->on_cpu[i].handle) {
			log->ran = log->on_cpu[i].handle;
			log->ran_priority = log->on_cpu[i].priority;
			return;
		}
}

static void leave_cpu(struct px_log *log, uint32_t cpu, uint32_t handle)
{
	if (log->on_cpu[cpu].handle == handle)
		log->on_cpu[cpu].handle = 0;
}

void px_log_note_running(struct px_log *log, const struct px_record *record,
			 const struct px_translation *translation)
{
	const struct px_entry *last = &translation->entries[translation->nr_entries - 1];

	log->ran = last->context;
	log->ran_priority = last->priority;
	if (!log->open)
		return;
	leave_cpu(log, record->cpu % PX_LOG_CPUS, record->context);
	choose_other(log);
}

/* For the viewer, a thread that waits runs again when its call ends, even if it gets a CPU before. */
static bool is_suspended(const struct px_log *log, uint32_t handle)
{
	const struct px_call_object *thread = log->translator ? px_translator_find(log->translator, handle) : NULL;

	return thread && thread->is_suspended;
}

void px_log_note_switch(struct px_log *log, const struct px_record *record)
{
	uint32_t cpu = record->cpu % PX_LOG_CPUS;

	if ((record->context == 0 && record->id != PX_EVENT_SCHED_GAP) || record->id == PX_EVENT_CPU_TIME)
		return;
	if (record->id == PX_EVENT_SWITCH_IN && !is_suspended(log, record->context)) {
		log->on_cpu[cpu] = (struct px_log_on_cpu){record->context, record->priority};
		log->ran = record->context;
		log->ran_priority = record->priority;
		return;
	}
	if (record->id == PX_EVENT_SWITCH_OUT)
		leave_cpu(log, cpu, record->context);
	else if (record->id == PX_EVENT_SCHED_GAP)
		log->on_cpu[cpu].handle = 0;
	if (log->ran == 0 || (record->id == PX_EVENT_SWITCH_OUT && log->ran == record->context))
		choose_other(log);
}
