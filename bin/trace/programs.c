/* SPDX-License-Identifier: MIT */
#include "trace/programs.h"

#include <string.h>

#include "trace/calldata.h"
#include "trace/calltable.h"

enum { RUNS_OTHER = 1, RAN_OTHER = 2 };

/* Threads have their handles in the order in which they began.  Each program of a process has a main thread. */
static unsigned int newest_main(const struct source *source, pid_t pid)
{
	unsigned int newest = 0;

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_THREAD && object->pid == pid && object->tid == pid &&
		    object->handle > newest)
			newest = object->handle;
	}
	return newest;
}

/* A process begins, by fork or by executing a program. */
static void begin(struct programs *programs, struct source *source, const struct event *event)
{
	struct call_field command, parent;
	uint64_t *state = map_get(&programs->state_of, (uint64_t)event->pid);
	bool executed = calldata_get(source, event, "command", &command) && *command.text;
	bool is_other = executed;

	if (!executed && calldata_get(source, event, "parent", &parent))
		is_other = map_find(&programs->state_of, (uint64_t)parent.value) & RUNS_OTHER;
	*state = (*state & RAN_OTHER) | (is_other ? RUNS_OTHER | RAN_OTHER : 0);
}

bool programs_is_listed(struct programs *programs, struct source *source, const struct event *event)
{
	static const struct call_row *start;
	bool is_other;

	if (source->file.foreign || source->is_live || event->pid <= 0)
		return true;
	if (!start)
		start = calltable_find("txtrace_process_start");
	if (programs->first == 0) {
		programs->first = event->pid;
		programs->newest = newest_main(source, event->pid);
	}
	if (event->pid == programs->first) {
		is_other = event->context != 0 && event->context < programs->newest;
		if (event->pid != programs->last || is_other != programs->last_is_other)
			*map_get(&programs->state_of, (uint64_t)event->pid) =
				is_other ? RUNS_OTHER | RAN_OTHER :
					   map_find(&programs->state_of, (uint64_t)event->pid) & RAN_OTHER;
	} else {
		if (event->row == start && calldata_is(source, event))
			begin(programs, source, event);
		else if (event->pid == programs->last)
			return !programs->last_is_other;
		is_other = map_find(&programs->state_of, (uint64_t)event->pid) & RUNS_OTHER;
	}
	programs->last = event->pid;
	programs->last_is_other = is_other;
	return !is_other;
}

bool programs_was_listed(const struct programs *programs, pid_t pid)
{
	return !(map_find(&programs->state_of, (uint64_t)pid) & RAN_OTHER);
}

void programs_rewind(struct programs *programs)
{
	for (size_t i = 0; i < programs->state_of.nr_places; i++)
		if (programs->state_of.place[i].is_taken)
			programs->state_of.place[i].value &= RAN_OTHER;
	programs->last = 0;
}
