/* SPDX-License-Identifier: MIT */
#include "trace/calls.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number_names.h"
#include "trace/calltable.h"
#include "trace/lives.h"
#include "trace/native.h"
#include "trace/states.h"

#define RESULT_OF_OBJECT 14 /* offset of the result, which has 16 bits */
#define RESULT_OF_FD 8	    /* offset of the result, which has 64 bits */

unsigned int call_service(const struct event *event)
{
	return event->is_call && event->row ? event->row->native : 0;
}

bool call_counts(const struct event *event)
{
	bool ends = event->is_call && event->call.phase == TXTRACE_CALL_ENDS;

	return !event->is_made && !ends;
}

/* struct px_call_counted of lib/event/calls.h */
#define COUNTED_NUMBER 8
#define COUNTED_CALL 12
#define COUNTED_TID 32
#define COUNTED_NESTED 36
#define COUNTED_BYTES 40

const struct call_row *call_counted(const struct event *event)
{
	uint16_t call = 0;

	if (!event->is_call || !event->row || event->size < COUNTED_BYTES ||
	    strcmp(event->row->name, CALLTABLE_COUNTED) != 0)
		return NULL;
	memcpy(&call, event->data + COUNTED_CALL, sizeof(call));
	return calltable_row(call);
}

uint64_t call_number(const struct event *event)
{
	uint32_t number = 1;

	if (call_counted(event))
		memcpy(&number, event->data + COUNTED_NUMBER, sizeof(number));
	return call_counts(event) ? number : 0;
}

bool call_is_nested(const struct event *event)
{
	uint32_t is_nested = 0;

	if (call_counted(event))
		memcpy(&is_nested, event->data + COUNTED_NESTED, sizeof(is_nested));
	return is_nested != 0;
}

trace_event_id_t call_type(const struct event *event)
{
	const struct call_row *counted = call_counted(event);

	return counted ? event->type - (trace_event_id_t)(event->row - counted) : event->type;
}

const char *call_name(const struct event *event)
{
	const struct call_row *counted = call_counted(event);

	return counted ? counted->name : event->name;
}

unsigned int call_context(struct source *source, const struct event *event)
{
	const struct txtrace_object *thread = NULL;
	uint32_t tid;

	if (call_counted(event)) {
		memcpy(&tid, event->data + COUNTED_TID, sizeof(tid));
		thread = source_thread(source, (pid_t)tid);
	}
	return thread ? thread->handle : event->context;
}

int call_result(const struct event *event)
{
	int16_t error = 0;
	int64_t result = 0;

	if (!event->is_call || !event->row || event->call.phase == TXTRACE_CALL_BEGINS ||
	    event->size < LAYOUT_BYTES)
		return 0;
	switch (event->row->layout) {
	case LAYOUT_OBJECT:
		memcpy(&error, event->data + RESULT_OF_OBJECT, sizeof(error));
		return error;
	case LAYOUT_FD:
		memcpy(&result, event->data + RESULT_OF_FD, sizeof(result));
		return result < 0 && result > -4096 ? (int)-result : 0;
	default:
		return 0;
	}
}

const char *call_error_words(int error)
{
	if (error_number_name(error))
		return strerror(error);
	return calltable_c11_result(error) ?: "unknown error";
}

/* Synthesize an event with the time and the thread of this event. */
static struct event make(const struct event *of, unsigned int native, uint32_t word0,
			 uint32_t word1, uint32_t word2, uint32_t word3)
{
	struct event made = *of;

	made.of = of;
	made.row = NULL;
	made.type = FOREIGN_TYPES + native;
	made.name = source_synthesized_name(made.type);
	made.size = sizeof(made.call.word);
	made.is_truncated = made.is_call = false;
	made.is_made = true;
	made.call = (struct txtrace_call){
		.native = native, .word = {word0, word1, word2, word3}, .object = of->call.object};
	return made;
}

/*
 * Synthesize the resumption.  The event that ends the wait names the waker.  The waker becomes the thread of the
 * resumption.
 */
static struct event make_resume(const struct event *of)
{
	struct event made = make(of, NATIVE_THREAD_RESUME, of->context, of->call.state, 0,
				 of->call.waker);

	made.context = of->call.waker;
	made.thread = of->waker;
	if (made.context != of->context)
		made.priority = -1;
	return made;
}

/* Return a free place for an event that calls_next() returns. */
static struct event *add(struct expansion *expansion)
{
	if (expansion->nr == expansion->room) {
		expansion->room = expansion->room ? 2 * expansion->room : 8;
		expansion->event = must(
			reallocarray(expansion->event, (size_t)expansion->room, sizeof(*expansion->event)));
	}
	return &expansion->event[expansion->nr++];
}

/* A thread has ended with its process. */
static void add_end(struct source *source, const struct event *event, const struct life *life)
{
	const struct txtrace_object *thread = source_object(source, life->context);
	struct event made = make(event, NATIVE_THREAD_SUSPEND, life->context, STATE_ENDED, 0, 0);

	made.call.object = 0;
	if (life->context != event->context) {
		made.context = life->context;
		made.thread = source_context_name(source, life->context);
		made.cpu = life->cpu;
		made.priority = -1;
		if (thread)
			made.pid = thread->pid;
	}
	*add(source->expansion) = made;
}

static void expand(struct source *source)
{
	struct expansion *expansion = source->expansion;
	const struct event *event = &expansion->read;
	bool begins = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;
	bool ends = event->is_call && event->call.phase == TXTRACE_CALL_ENDS;
	struct event *same;

	expansion->nr = expansion->next = 0;
	lives_note(expansion->lives, event);
	lives_end(expansion->lives, source, event, true, add_end);
	if (ends)
		*add(expansion) = make_resume(event);
	same = add(expansion);
	*same = *event;
	same->is_over = ends;
	if (begins && event->call.state != 0)
		*add(expansion) =
			make(event, NATIVE_THREAD_SUSPEND, event->context, event->call.state, 0, 0);
	lives_end(expansion->lives, source, event, false, add_end);
	for (int i = 0; i < expansion->nr; i++)
		if (expansion->event[i].is_made)
			expansion->event[i].data = (const unsigned char *)expansion->event[i].call.word;
}

void calls_expand(struct source *source)
{
	if (source->file.foreign || source->expansion)
		return;
	source->expansion = must(calloc(1, sizeof(*source->expansion)));
	source->expansion->lives = must(calloc(1, sizeof(*source->expansion->lives)));
}

bool calls_next(struct source *source, struct event *event)
{
	struct expansion *expansion = source->expansion;

	if (!expansion)
		return source_next(source, event);
	if (expansion->next == expansion->nr) {
		if (!source_next(source, &expansion->read))
			return false;
		expand(source);
	}
	*event = expansion->event[expansion->next++];
	return true;
}
