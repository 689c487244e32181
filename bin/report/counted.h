/* SPDX-License-Identifier: MIT */
/*
 * The times that the kernel counted for the threads of a log without scheduling records: between the first and the last
 * count in the range.  They are estimates: a count may miss some milliseconds of a thread that runs, and the rest of
 * the time is taken for time blocked.
 */
#ifndef TXTRACE_REPORT_COUNTED_H
#define TXTRACE_REPORT_COUNTED_H

#include "report/events.h"

/* A thread of a program. */
struct counted_row {
	pid_t pid, tid;
	unsigned int context; /* 0: the thread has no handle */
	char name[16];
	int64_t from_ns, until_ns; /* of the first and the last count, from the first event */
	int64_t ran_ns, ready_ns;  /* between them */
	int64_t ran_from_ns, ready_from_ns;
	int64_t ran_at_ns; /* the time of the count that ran_ns comes from */
	bool knows_ready; /* ready_ns is valid: the stream has read it, and the thread has not only told its time */
	bool is_late; /* it began in the log */
	bool is_part; /* the same thread has a row of another program, too */
};

struct counted {
	const struct report_events *events;
	struct counted_row *row;
	size_t nr_rows;
	bool has_first;
	int64_t first_ns; /* the time of the first counts of the log */
	struct map row_of; /* key: pid and tid; value: 1 + index of the row of the newest program */
	struct map is_seen; /* key: handle; value: 1 if the thread has recorded an event with it */
	unsigned int last_context;
	struct map began; /* key: pid and tid; value: 1 if the log has the beginning of the thread */
};

/* Take the event if it is a count.  report_events_next() has just returned it. */
void counted_event(struct counted *counted, const struct event *event);
void counted_free(struct counted *counted);

#endif
