/* SPDX-License-Identifier: MIT */
#include "trace/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/event_names.h"

/* Objects and threads. */

const struct txtrace_object *source_object(const struct source *source, unsigned int handle)
{
	return (const struct txtrace_object *)(uintptr_t)map_find(&source->by_handle, handle);
}

const char *source_object_type(const struct source *source, int type)
{
	if (!source->file.foreign && (type == OBJECT_TCP_SOCKET || type == OBJECT_UDP_SOCKET))
		return "socket";
	return object_type_name(type);
}

/* Addresses do not use the upper bits of the key, so these bits hold the pid. */
static uint64_t key_of(pid_t pid, uint64_t address)
{
	return address ^ (uint64_t)pid << 40;
}

void source_index(struct source *source)
{
	if (source->by_tid.nr_taken > 0)
		return;
	*map_get(&source->by_tid, 0) = 0; /* no thread has tid 0, so this entry shows that the index exists */
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type == OBJECT_THREAD && object->tid > 0) {
			uint64_t *known = map_get(&source->by_tid, (uint64_t)object->tid);

			if (*known && !map_find(&source->reused_tids, (uint64_t)object->tid))
				*map_get(&source->reused_tids, (uint64_t)object->tid) = *known;
			*known = i + 1;
		} else if (object->address > 0)
			*map_get(&source->by_address, key_of(object->pid, object->address)) = i + 1;
	}
}

void source_forget_index(struct source *source)
{
	map_free(&source->by_address);
	map_free(&source->by_tid);
	map_free(&source->reused_tids);
}

const struct txtrace_object *source_object_at(struct source *source, pid_t pid, uint64_t address)
{
	uint64_t place;

	source_index(source);
	place = map_find(&source->by_address, key_of(pid, address));
	return place > 0 ? &source->objects[place - 1] : NULL;
}

const struct txtrace_object *source_thread(struct source *source, pid_t tid)
{
	uint64_t place;

	source_index(source);
	place = map_find(&source->by_tid, (uint64_t)tid);
	return place > 0 ? &source->objects[place - 1] : NULL;
}

/* Return the index of the first thread with this tid from an index on, or nr_objects. */
static size_t find_thread(const struct source *source, pid_t tid, size_t index)
{
	while (index < source->nr_objects &&
	       (source->objects[index].type != OBJECT_THREAD || source->objects[index].tid != tid))
		index++;
	return index < source->nr_objects ? index : source->nr_objects;
}

unsigned int source_find_context(struct source *source, const struct event *event)
{
	const struct txtrace_object *object;
	struct txtrace_sched sched;
	uint64_t *place;
	size_t index;

	memcpy(&sched, event->data, TXTRACE_SCHED_SWITCH_BYTES);
	object = source_thread(source, sched.tid);
	if (!object || object->pid != sched.pid)
		return event->context;
	if (!map_find(&source->reused_tids, (uint64_t)sched.tid))
		return object->handle;
	place = map_get(&source->reused_tids, (uint64_t)sched.tid);
	index = (size_t)*place - 1;
	if (event->type == TXTRACE_SWITCH_OUT && sched.state == TXTRACE_ENDED)
		*place = 1 + find_thread(source, sched.tid, index + 1);
	return index < source->nr_objects ? source->objects[index].handle : 0;
}

void source_note_tid(struct source *source, const struct event *event)
{
	const struct txtrace_object *object = event->context ? source_object(source, event->context) : NULL;

	if (object && object->type == OBJECT_THREAD && map_find(&source->reused_tids, (uint64_t)object->tid))
		*map_get(&source->reused_tids, (uint64_t)object->tid) = 1 + (uint64_t)(object - source->objects);
}

/* Names. */

const char *source_synthesized_name(trace_event_id_t type)
{
	if (type == FOREIGN_TYPES + NATIVE_THREAD_RESUME)
		return "TX_TRACE_THREAD_RESUME";
	return type == FOREIGN_TYPES + NATIVE_THREAD_SUSPEND ? "TX_TRACE_THREAD_SUSPEND" : NULL;
}

/*
 * Return the name that the user has given a user event of ThreadX, or NULL.  The services of ThreadX give such an event
 * in a log a type with its id in the name (threadx/streams.c).
 */
static const char *given_name(const struct source *source, trace_event_id_t type, const char *name)
{
	unsigned int id;
	int end = 0;

	if (source->file.foreign)
		return type >= FOREIGN_TYPES ? event_names_find((unsigned int)(type - FOREIGN_TYPES)) : NULL;
	if (sscanf(name, "TX_TRACE_USER_EVENT_%u%n", &id, &end) == 1 && name[end] == '\0')
		return event_names_find(id);
	return NULL;
}

static void name_type(struct source *source, trace_event_id_t type)
{
	const char *synthesized = source->file.foreign ? NULL : source_synthesized_name(type);
	struct source_type *named = source_hold_type(source, type);
	char name[TRACE_EVENT_NAME_MAX + 1];
	const char *given;

	if (synthesized)
		snprintf(name, sizeof(name), "%s", synthesized);
	else if (posix_trace_eventid_get_name(source->trace, type, name) != 0)
		snprintf(name, sizeof(name), "event %lu", (unsigned long)type);
	given = given_name(source, type, name);
	named->name = must(strdup(given ? given : name));
	named->row = calltable_find(name);
}

const char *source_type_name(struct source *source, trace_event_id_t type)
{
	if (type >= SOURCE_TYPES)
		return "?";
	if (!source->type[type].name)
		name_type(source, type);
	return source->type[type].name;
}

const char *source_context_name(const struct source *source, unsigned int context)
{
	static char unknown[4][16];
	static unsigned int turn;
	const struct txtrace_object *object;

	if (context == 0)
		return "-";
	if (context == CONTEXT_INTERRUPT)
		return "interrupt";
	if (context == CONTEXT_INITIALIZE)
		return "initialization";
	object = source_object(source, context);
	if (object)
		return object->name;
	turn = (turn + 1) % 4;
	snprintf(unknown[turn], sizeof(unknown[turn]), "%08x", context);
	return unknown[turn];
}
