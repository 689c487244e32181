/* SPDX-License-Identifier: MIT */
#include "trace/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

static bool has_modules(const struct source *source, unsigned int number)
{
	size_t length = 0;
	int error = txtrace_get_origin_modules(source->trace, number, NULL, 0, &length);

	return (error == 0 || error == ENOSPC) && length > 0;
}

static void add_first(struct programs *programs, const struct source *source, unsigned int number,
		      pid_t pid)
{
	uint64_t *known = map_get(&programs->first_of, (uint64_t)pid);

	/* Logs of one process have the same modules.  Another process with its pid is later, as newest_main() is. */
	if (*known && has_modules(source, number)) {
		programs->first[*known - 1].number = number;
		*map_get(&programs->program_of, (uint64_t)pid) = number + 1;
	}
	if (*known)
		return;
	programs->first =
		must(reallocarray(programs->first, programs->nr + 1, sizeof(*programs->first)));
	programs->first[programs->nr++] = (struct first_process){number, newest_main(source, pid)};
	*known = programs->nr;
	*map_get(&programs->program_of, (uint64_t)pid) = number + 1;
}

/* Without the preloaded object, nothing else tells that a child has executed a program. */
static void note_mains(struct programs *programs, const struct source *source)
{
	struct map first_of = {0};

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];
		uint64_t *first, *second;

		if (object->type != OBJECT_THREAD || object->pid <= 0 || object->tid != object->pid)
			continue;
		first = map_get(&first_of, (uint64_t)object->pid);
		second = map_get(&programs->second_of, (uint64_t)object->pid);
		if (*first == 0) {
			*first = object->handle;
		} else if (object->handle < *first) {
			*second = *first;
			*first = object->handle;
		} else if (*second == 0 || object->handle < *second) {
			*second = object->handle;
		}
	}
	map_free(&first_of);
}

/* The first process of a log is that of its first event. */
static void begin_log(struct programs *programs, const struct source *source,
		      const struct event *event)
{
	struct txtrace_origin origin;

	for (unsigned int i = 0;
	     i < CODE_PROGRAMS_MAX && txtrace_get_origin(source->trace, i, &origin) == 0; i++) {
		programs->is_merged |= origin.merged;
		if (origin.merged && origin.pid > 0)
			add_first(programs, source, i, origin.pid);
	}
	if (!programs->is_merged)
		add_first(programs, source, 0, event->pid);
	note_mains(programs, source);
}

/* A process begins, by fork or by executing a program. */
static void begin(struct programs *programs, struct source *source, const struct event *event)
{
	struct call_field command, parent;
	uint64_t *state = map_get(&programs->state_of, (uint64_t)event->pid);
	bool executed = calldata_get(source, event, "command", &command) && *command.text;
	bool is_other = executed;

	if (!executed && calldata_get(source, event, "parent", &parent)) {
		is_other = map_find(&programs->state_of, (uint64_t)parent.value) & RUNS_OTHER;
		if (programs->is_merged)
			*map_get(&programs->program_of, (uint64_t)event->pid) =
				map_find(&programs->program_of, (uint64_t)parent.value);
	}
	*state = (*state & RAN_OTHER) | (is_other ? RUNS_OTHER | RAN_OTHER : 0);
}

/* Return 1 + the number of the program of a process, or 0 if it is not known. */
static uint64_t program_of(const struct programs *programs, pid_t pid)
{
	return programs->is_merged ? map_find(&programs->program_of, (uint64_t)pid) : 1;
}

static uint64_t make_code(uint64_t program, uint64_t address)
{
	if (program == 0 || (program > 1 && address >> CODE_ADDRESS_BITS))
		return 0;
	return (program - 1) << CODE_ADDRESS_BITS | address;
}

uint64_t programs_code(struct programs *programs, struct source *source, const struct event *event)
{
	static const struct call_row *start;
	bool is_other, executed;
	uint64_t first;

	if (source->file.foreign || source->is_live || !event_has_process(event->pid))
		return event->address;
	if (!start)
		start = calltable_find("txtrace_process_start");
	if (programs->nr == 0 && !programs->is_merged)
		begin_log(programs, source, event);
	first = event->pid == programs->last ? programs->last_first :
					       map_find(&programs->first_of, (uint64_t)event->pid);
	if (first) {
		is_other = event->context != 0 &&
			   event->context < programs->first[first - 1].newest;
		if (event->pid != programs->last || is_other != programs->last_is_other)
			*map_get(&programs->state_of, (uint64_t)event->pid) =
				is_other ? RUNS_OTHER | RAN_OTHER :
					   map_find(&programs->state_of, (uint64_t)event->pid) &
						   RAN_OTHER;
	} else {
		if (event->pid != programs->last)
			programs->last_second = map_find(&programs->second_of, (uint64_t)event->pid);
		executed = programs->last_second != 0 && event->context >= programs->last_second;
		if (executed)
			*map_get(&programs->state_of, (uint64_t)event->pid) = RUNS_OTHER | RAN_OTHER;
		if (!executed && event->row == start && calldata_is(source, event))
			begin(programs, source, event);
		else if (event->pid == programs->last && (!executed || programs->last_is_other))
			return programs->last_is_other ?
				       0 :
				       make_code(programs->last_program, event->address);
		is_other = map_find(&programs->state_of, (uint64_t)event->pid) & RUNS_OTHER;
	}
	if (event->pid != programs->last || event->row == start)
		programs->last_program = program_of(programs, event->pid);
	programs->last = event->pid;
	programs->last_first = first;
	programs->last_is_other = is_other;
	return is_other ? 0 : make_code(programs->last_program, event->address);
}

uint64_t programs_code_at(const struct programs *programs, pid_t pid, uint64_t address)
{
	if (map_find(&programs->state_of, (uint64_t)pid) & RAN_OTHER)
		return 0;
	return make_code(program_of(programs, pid), address);
}

void programs_rewind(struct programs *programs)
{
	for (size_t i = 0; i < programs->state_of.nr_places; i++)
		if (programs->state_of.place[i].is_taken)
			programs->state_of.place[i].value &= RAN_OTHER;
	programs->last = 0;
}

void programs_free(struct programs *programs)
{
	map_free(&programs->state_of);
	map_free(&programs->first_of);
	map_free(&programs->program_of);
	map_free(&programs->second_of);
	free(programs->first);
	*programs = (struct programs){0};
}
