/* SPDX-License-Identifier: MIT */
/* Scheduling records: the events of <trace_ext.h> that say which threads have a CPU. */
#ifndef TXTRACE_TRACE_SCHED_H
#define TXTRACE_TRACE_SCHED_H

#include <stdbool.h>

#include "base/output.h"
#include "trace/source.h"

enum sched_kind {
	SCHED_NONE, /* the event is not a scheduling record, or its data is not valid */
	SCHED_START,
	SCHED_STOP,
	SCHED_THREAD,
	SCHED_IN,
	SCHED_OUT,
	SCHED_GAP_BEGINS,
	SCHED_GAP_ENDS,
	SCHED_CPU_TIME /* says nothing about a time at which a thread got or lost a CPU */
};

/* What a scheduling record says.  Members that the kind does not have are 0. */
struct sched_record {
	enum sched_kind kind;
	struct txtrace_sched thread;
	unsigned int cpu;	    /* also of a gap */
	unsigned long long nr_lost; /* SCHED_GAP_ENDS */
	struct txtrace_cpu_time counted; /* SCHED_CPU_TIME */
	int end;		    /* SCHED_STOP: enum txtrace_sched_end */
};

/* Return true if events of this type are scheduling records, whatever their data. */
static inline bool sched_is_record(trace_event_id_t type)
{
	return type >= TXTRACE_SWITCH_IN && type <= TXTRACE_CPU_TIME;
}

/* Read the data of an event.  The state of an unknown thread, or one that is not valid, is TXTRACE_UNKNOWN. */
struct sched_record sched_read(const struct event *event);

/* Return the word for a state (enum txtrace_sched_state). */
const char *sched_state_name(unsigned int state);

/* Return words for the end of scheduling (enum txtrace_sched_end). */
const char *sched_end_name(int end);

/* Write the data of a scheduling record.  Return false, and write nothing, if the event is another one. */
bool sched_print(struct text *text, const struct event *event);

#endif
