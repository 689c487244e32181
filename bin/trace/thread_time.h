/* SPDX-License-Identifier: MIT */
/*
 * What a thread says of its own times after a wait, in a log without scheduling records (txtrace_thread_time).  The
 * kernel counted them up to the end of the wait, less the few microseconds since the thread had its CPU again.
 */
#ifndef TXTRACE_TRACE_THREAD_TIME_H
#define TXTRACE_TRACE_THREAD_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/source.h"

struct thread_time {
	int64_t ran_ns; /* since the thread began */
	uint32_t nr_blocked, nr_preempted;
};

/* Return false if the event is another one. */
bool thread_time_read(const struct event *event, struct thread_time *time);

#endif
