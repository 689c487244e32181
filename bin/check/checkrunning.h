/* SPDX-License-Identifier: MIT */
/* Finds events from which TraceX draws a wrong conclusion about the running thread. */
#ifndef TXTRACE_CHECK_CHECKRUNNING_H
#define TXTRACE_CHECK_CHECKRUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "check/findings.h"
#include "check/handles.h"
#include "check/raw.h"

struct check_running {
	struct findings *findings;
	struct handles *handles;
	struct raw_event last;
	uint64_t last_offset;
	uint32_t nr_events;
	bool has_thread;   /* a thread has had an event */
	uint32_t nr_added; /* number of Running events that TraceX adds after events of threads */
};

/* Call this for each event, in the order of the times. */
void check_running_event(struct check_running *running, const struct raw_event *event,
			 uint64_t offset);

/*
 * TraceX has 4 bytes for each event, its Running events included.  For each period in which the status of a thread does
 * not change, it writes 8 bytes.  Return true if the periods of this thread need more bytes.
 */
bool check_running_overruns(const struct check_running *running, const struct handle *thread);

#endif
