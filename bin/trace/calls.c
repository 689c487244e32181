/* SPDX-License-Identifier: MIT */
#include "trace/calls.h"

#include <errno.h>
#include <string.h>

#include "trace/native.h"

/* The first bytes of a call's data that are looked at; lib/event/calls.h tells them all. */
#define RESULT_OF_OBJECT 14 /* 16 bits, where the object is an address */
#define RESULT_OF_FD 8	    /* 64 bits, where it is a descriptor */
#define LEAST 16	    /* bytes that each call has */

enum layout { LAYOUT_OBJECT, LAYOUT_FD, LAYOUT_WORDS };

static const struct call_row {
	const char *name;
	enum layout layout;
	unsigned int native;
} rows[] = {
#define PX_CALL(name, group, layout, object, native, ...) {#name, LAYOUT_##layout, native},
#include "../lib/event/calls.def"
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(NR_ROWS < 255, "numbers of rows are bytes");

const char *calls_made_name(trace_event_id_t type)
{
	if (type == FOREIGN_TYPES + NATIVE_THREAD_RESUME)
		return "TX_TRACE_THREAD_RESUME";
	return type == FOREIGN_TYPES + NATIVE_THREAD_SUSPEND ? "TX_TRACE_THREAD_SUSPEND" : NULL;
}

bool call_of(const struct source *source, const struct posix_trace_event_info *info,
	     struct event *event)
{
	return !source->file.foreign && !source->is_live &&
	       txtrace_get_call(source->trace, info, &event->call) == 0;
}

/* Found out once for each type: the types of calls have the same ids in all logs. */
static const struct call_row *row_of(const struct event *event)
{
	static const struct call_row none = {"", LAYOUT_WORDS, 0};
	static unsigned char known[FOREIGN_TYPES]; /* 1 + the row; 0: not looked up yet */
	size_t i = 0;

	if (event->type >= FOREIGN_TYPES)
		return &none;
	if (known[event->type] == 0) {
		while (i < NR_ROWS && strcmp(rows[i].name, event->name) != 0)
			i++;
		known[event->type] = (unsigned char)(1 + i);
	}
	i = known[event->type] - 1U;
	return i < NR_ROWS ? &rows[i] : &none;
}

unsigned int call_service(const struct event *event)
{
	return event->is_call ? row_of(event)->native : 0;
}

int call_result(const struct event *event)
{
	int16_t error = 0;
	int64_t result = 0;

	if (!event->is_call || event->call.phase == TXTRACE_CALL_BEGINS || event->size < LEAST)
		return 0;
	switch (row_of(event)->layout) {
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
	if (strerrorname_np(error))
		return strerror(error);
	switch (error) {
#define PX_C11_RESULT(name, number)                                                                \
	case number:                                                                               \
		return #name;
#include "../lib/event/calls.def"
	default:
		return "unknown error";
	}
}

/* An event beside this one, of the same thread unless it is told otherwise. */
static struct event make(const struct event *of, unsigned int native, uint32_t word0,
			 uint32_t word1, uint32_t word2, uint32_t word3)
{
	struct event made = *of;

	made.of = of;
	made.type = FOREIGN_TYPES + native;
	made.name = calls_made_name(made.type);
	made.size = sizeof(made.call.word);
	made.is_truncated = made.is_call = false;
	made.is_made = true;
	made.call = (struct txtrace_call){
		.native = native, .word = {word0, word1, word2, word3}, .object = of->call.object};
	return made;
}

/* The waker is told by the event that ends the wait. */
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

static int expand(const struct event *event, struct event made[CALLS_MADE])
{
	bool begins = event->is_call && event->call.phase == TXTRACE_CALL_BEGINS;
	bool ends = event->is_call && event->call.phase == TXTRACE_CALL_ENDS;
	int nr = 0;

	if (ends)
		made[nr++] = make_resume(event);
	made[nr] = *event;
	made[nr++].is_over = ends;
	if (begins && event->call.state != 0)
		made[nr++] = make(event, NATIVE_THREAD_SUSPEND, event->context, event->call.state,
				  0, 0);
	return nr;
}

int calls_expand(const struct event *event, struct event made[CALLS_MADE])
{
	int nr = expand(event, made);

	for (int i = 0; i < nr; i++)
		if (made[i].is_made)
			made[i].data = (const unsigned char *)made[i].call.word;
	return nr;
}
