/* SPDX-License-Identifier: MIT */
#include "log/merge_private.h"

#include <string.h>

#include "calls/translate.h"
#include "event/call_fields.h"

/* What a field is the number of. */
enum number { NUMBER_OTHER, NUMBER_PID, NUMBER_HANDLE };

static bool is_field(const struct px_call_field *field, const char *name)
{
	return field->name_length == strlen(name) && memcmp(field->name, name, field->name_length) == 0;
}

static enum number number_of(enum px_call call, const struct px_call_field *field)
{
	bool makes_process = call == PX_CALL_fork || call == PX_CALL_vfork || call == PX_CALL_waitpid;

	if (field->kind == 't' || is_field(field, "tid") || is_field(field, "pid") || is_field(field, "child") ||
	    is_field(field, "parent") || (makes_process && is_field(field, "result")))
		return NUMBER_PID;
	return is_field(field, "handle") ? NUMBER_HANDLE : NUMBER_OTHER;
}

/* Processes and threads have positive numbers; other numbers are errors, or stand for several processes. */
static void convert_32(struct px_merge *merge, struct px_merge_log *log, enum number number,
		       unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	value = number == NUMBER_HANDLE ? px_merge_handle(merge, log, value) :
					  px_merge_pid(log, value);
	memcpy(at, &value, sizeof(value));
}

static void convert_64(const struct px_merge_log *log, unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	if (value > 0 && value < UINT64_C(0x80000000))
		value = px_merge_pid(log, (uint32_t)value);
	memcpy(at, &value, sizeof(value));
}

static void convert_call(struct px_merge *merge, struct px_merge_log *log, enum px_call call,
			 unsigned char *data, size_t length)
{
	struct px_call_field field;
	const char *place = NULL;
	size_t at = 0;

	for (unsigned int i = 0; px_call_next_field(call, i, &place, &field) && !field.is_rest; i++) {
		enum number number = number_of(call, &field);

		if (field.bytes > length - at)
			return;
		if (number != NUMBER_OTHER && field.bytes == 4)
			convert_32(merge, log, number, data + at);
		else if (number != NUMBER_OTHER && field.bytes == 8)
			convert_64(log, data + at);
		at += field.bytes;
	}
}

/* Scheduling records begin with tid, pid and CPU, a gap with the number of records and the CPU (trace_ext.h). */
static void convert_sched(struct px_merge *merge, struct px_merge_log *log,
			  const struct px_record *record, unsigned char *data, size_t length)
{
	size_t at = record->id == PX_EVENT_SCHED_GAP ? 8 : 8 * (record->id != PX_EVENT_CPU_TIME);
	uint32_t pid = record->pid, cpu;

	if (record->id != PX_EVENT_SCHED_GAP && length >= 8) {
		memcpy(&pid, data + 4, sizeof(pid));
		convert_32(merge, log, NUMBER_PID, data);
		convert_32(merge, log, NUMBER_PID, data + 4);
	}
	if (at > 0 && length >= at + sizeof(cpu)) {
		memcpy(&cpu, data + at, sizeof(cpu));
		cpu = px_merge_cpu(log, pid, cpu);
		memcpy(data + at, &cpu, sizeof(cpu));
	}
}

/* START has a set of event types, and FILTER has two. */
static void convert_sets(const struct px_merge_log *log, unsigned char *data, size_t length)
{
	struct px_eventset from, to;

	for (; length >= sizeof(from); data += sizeof(from), length -= sizeof(from)) {
		memcpy(&from, data, sizeof(from));
		memset(&to, 0, sizeof(to));
		for (unsigned int id = 0; id < PX_EVENT_IDS; id++)
			if (px_eventset_has(&from, id) && log->type_of[id] != 0)
				px_eventset_add(&to, log->type_of[id]);
		memcpy(data, &to, sizeof(to));
	}
}

void px_merge_convert_data(struct px_merge *merge, struct px_merge_log *log,
			   const struct px_record *record, unsigned char *data, size_t length)
{
	enum px_call call;

	if (px_event_is_sched(record->id))
		convert_sched(merge, log, record, data, length);
	else if (record->id == PX_EVENT_START || record->id == PX_EVENT_FILTER)
		convert_sets(log, data, length);
	else if ((record->flags & PX_RECORD_CALL) && px_call_of_event(record->id, &call))
		convert_call(merge, log, call, data, length);
}
