/* SPDX-License-Identifier: MIT */
#include "trace/sched.h"

#include <string.h>

static void read_thread(struct sched_record *record, const struct event *event, enum sched_kind kind)
{
	size_t least = kind == SCHED_THREAD ? sizeof(record->thread) : TXTRACE_SCHED_SWITCH_BYTES;

	if (event->size < least)
		return;
	memcpy(&record->thread, event->data, least);
	record->thread.name[sizeof(record->thread.name) - 1] = '\0';
	if (record->thread.state > TXTRACE_RUNNABLE)
		record->thread.state = TXTRACE_UNKNOWN;
	record->cpu = record->thread.cpu;
	record->kind = kind;
}

static void read_gap(struct sched_record *record, const struct event *event)
{
	struct txtrace_sched_gap gap;

	if (event->size < sizeof(gap))
		return;
	memcpy(&gap, event->data, sizeof(gap));
	record->kind = gap.phase == TXTRACE_GAP_BEGINS ? SCHED_GAP_BEGINS : SCHED_GAP_ENDS;
	record->cpu = gap.cpu;
	record->nr_lost = gap.nr_lost;
}

static void read_counted(struct sched_record *record, const struct event *event)
{
	if (event->size < sizeof(record->counted))
		return;
	memcpy(&record->counted, event->data, sizeof(record->counted));
	record->counted.name[sizeof(record->counted.name) - 1] = '\0';
	record->kind = SCHED_CPU_TIME;
}

struct sched_record sched_read(const struct event *event)
{
	struct sched_record record = {.kind = SCHED_NONE};

	switch (event->type) {
	case TXTRACE_SCHED_START:
		record.kind = SCHED_START;
		break;
	case TXTRACE_SCHED_STOP:
		record.kind = SCHED_STOP;
		if (event->size >= sizeof(record.end))
			memcpy(&record.end, event->data, sizeof(record.end));
		break;
	case TXTRACE_SCHED_THREAD:
		read_thread(&record, event, SCHED_THREAD);
		break;
	case TXTRACE_SWITCH_IN:
		read_thread(&record, event, SCHED_IN);
		break;
	case TXTRACE_SWITCH_OUT:
		read_thread(&record, event, SCHED_OUT);
		break;
	case TXTRACE_SCHED_GAP:
		read_gap(&record, event);
		break;
	case TXTRACE_CPU_TIME:
		read_counted(&record, event);
		break;
	default:
		break;
	}
	return record;
}

const char *sched_state_name(unsigned int state)
{
	static const char *const names[] = {
		[TXTRACE_UNKNOWN] = "not known", [TXTRACE_RUNNING] = "running",
		[TXTRACE_READY] = "ready",	 [TXTRACE_BLOCKED] = "blocked",
		[TXTRACE_ENDED] = "ended",	 [TXTRACE_RUNNABLE] = "running or ready"};

	return names[state <= TXTRACE_RUNNABLE ? state : TXTRACE_UNKNOWN];
}

const char *sched_end_name(int end)
{
	return end == TXTRACE_SCHED_CONTROLLER ? "the recorder died" :
	       end == TXTRACE_SCHED_CPUS       ? "a CPU came online, whose switches the kernel does not report" :
						 "stopped";
}

static void print_number(struct text *text, const char *label, unsigned long long number)
{
	text_string(text, label);
	text_unsigned(text, number, 0, ' ');
}

static void print_thread(struct text *text, const struct sched_record *record)
{
	print_number(text, "tid=", (unsigned long long)record->thread.tid);
	if (record->kind == SCHED_IN || record->kind == SCHED_OUT)
		print_number(text, " cpu=", record->cpu);
	if (record->kind == SCHED_THREAD) {
		text_string(text, " name=");
		text_plain(text, record->thread.name, 0);
	}
	if (record->kind != SCHED_IN) {
		text_string(text, " state=");
		text_string(text, sched_state_name(record->thread.state));
	}
}

bool sched_print(struct text *text, const struct event *event)
{
	const struct sched_record record = sched_read(event);

	switch (record.kind) {
	case SCHED_NONE:
		return false;
	case SCHED_START:
		break;
	case SCHED_STOP:
		text_string(text, sched_end_name(record.end));
		break;
	case SCHED_GAP_BEGINS:
		print_number(text, "begins cpu=", record.cpu);
		break;
	case SCHED_GAP_ENDS:
		print_number(text, "ends cpu=", record.cpu);
		print_number(text, " lost=", record.nr_lost);
		break;
	case SCHED_CPU_TIME:
		print_number(text, "tid=", (unsigned long long)record.counted.tid);
		text_string(text, " name=");
		text_plain(text, record.counted.name, 0);
		print_number(text, " ran_ns=", record.counted.ran_ns);
		print_number(text, " ready_ns=", record.counted.ready_ns);
		break;
	default:
		print_thread(text, &record);
	}
	return true;
}
