/* SPDX-License-Identifier: MIT */
#include "trace/thread_time.h"

#include <string.h>

#include "trace/calltable.h"

bool thread_time_read(const struct event *event, struct thread_time *time)
{
	static const struct call_row *row;

	if (!row)
		row = calltable_find("txtrace_thread_time");
	if (!event->is_call || event->is_made || event->row != row || event->size < LAYOUT_BYTES)
		return false;
	memcpy(&time->nr_blocked, event->data, sizeof(time->nr_blocked));
	memcpy(&time->nr_preempted, event->data + 4, sizeof(time->nr_preempted));
	memcpy(&time->ran_ns, event->data + 8, sizeof(time->ran_ns));
	return time->ran_ns >= 0;
}
