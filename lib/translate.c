/* SPDX-License-Identifier: MIT */
#include "translate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callread.h"
#include "callrules.h"
#include "callthings.h"
#include "calls.h"

#define STATE_COMPLETED 1
#define STATE_TERMINATED 2

struct px_translator {
	struct px_callthings all;
	uint64_t now; /* counts calls */
};

struct px_translator *px_translator_make(const struct px_objects *threads)
{
	struct px_translator *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->all = (struct px_callthings){.threads = threads, .things = px_things_make()};
	if (made->all.things)
		return made;
	free(made);
	return NULL;
}

void px_translator_free(struct px_translator *translator)
{
	if (!translator)
		return;
	px_things_free(translator->all.things);
	free(translator);
}

struct px_things *px_translator_things(struct px_translator *translator)
{
	return translator->all.things;
}

const struct px_thing *px_translator_find(const struct px_translator *translator, uint32_t handle)
{
	return px_things_look(translator->all.things, handle);
}

void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site)
{
	px_callthings_restore(&translator->all, object, address, site);
}

/* Words. */

static uint32_t result_word(const struct px_call_read *call)
{
	int64_t result = call->first.of_fd.result;

	return call->begins || result < 0 ? 0 : (uint32_t)result;
}

/* Sets *is_handle for a word that is one. */
static uint32_t word_of(struct px_translator *translator, const struct px_call_read *call,
			enum px_call_info info, bool *is_handle)
{
	*is_handle = true;
	switch (info) {
	case PX_INFO_SELF:
		return call->record->context;
	case PX_INFO_OBJECT:
	case PX_INFO_POOL:
		return call->object ? call->object->object.handle : PX_NO_THREAD;
	case PX_INFO_THREAD:
		return px_callthings_with_tid(&translator->all, call->record->pid,
					      px_call_read_value(call));
	case PX_INFO_NEXT:
		return PX_IDLE_THREAD;
	case PX_INFO_VALUE:
		if (call->native == PX_NATIVE_THREAD_CREATE)
			return call->object ? call->object->object.handle : PX_NO_THREAD;
		*is_handle = false;
		return px_call_read_value(call);
	default:
		*is_handle = false;
	}
	switch (info) {
	case PX_INFO_ONE:
		return 1;
	case PX_INFO_FOREVER:
		return UINT32_MAX;
	case PX_INFO_COUNT:
		return call->first.of_object.count;
	case PX_INFO_RESULT:
		return result_word(call);
	case PX_INFO_LOW_FIRST:
		return (uint32_t)call->first.words[0];
	case PX_INFO_LOW_SECOND:
		return (uint32_t)call->first.words[1];
	default:
		return 0;
	}
}

static void resume(struct px_translation *to, struct px_thing *thread, const struct px_thing *waker)
{
	struct px_shown *shown = px_shown_add_by(to, waker, PX_NATIVE_RESUME);

	shown->info[0] = thread->object.handle;
	shown->info[1] = thread->wait.state;
	shown->info[3] = shown->context;
	shown->handles = 1 << 0 | 1 << 3;
	thread->is_suspended = false;
}

static void suspend(struct px_translation *to, struct px_thing *thread, uint32_t priority)
{
	struct px_shown *shown = px_shown_add(to, thread->object.handle, priority,
					      PX_NATIVE_SUSPEND);

	shown->info[0] = thread->object.handle;
	shown->info[1] = thread->wait.state;
	shown->info[3] = PX_IDLE_THREAD;
	shown->handles = 1 << 0 | 1 << 3;
	to->open = to->nr_shown;
	thread->is_suspended = true;
}

void px_translate_plainly(const struct px_record *record, const void *data, size_t length,
			  struct px_translation *translation)
{
	translation->nr_shown = translation->open = translation->changed = 0;
	px_shown_add_plainly(record, data, length, translation);
}

void px_translate_own_plainly(const struct px_record *record, const void *data, size_t length,
			      struct px_translation *translation)
{
	px_shown_fill_plainly(record, data, length, &translation->shown[translation->own]);
	translation->is_native = false;
	if (translation->open == translation->own + 1)
		translation->open = 0;
}

static void show_words(struct px_translator *translator, const struct px_call_read *call,
		       struct px_shown *shown)
{
	for (unsigned int i = 0; i < 4; i++) {
		bool is_handle;

		shown->info[i] = word_of(translator, call, (enum px_call_info)call->info[i],
					 &is_handle);
		if (is_handle && shown->info[i] != 0)
			shown->handles |= 1u << i;
	}
}

/* Who gave up what the thread waited for; NULL: nobody, as far as is known. */
static struct px_thing *waker_of(struct px_translator *translator, const struct px_call_read *call,
				 const struct px_thing_wait *wait)
{
	const struct px_thing *object = call->object;
	unsigned int i = call->native == PX_NATIVE_QUEUE_SEND; /* waits for who receives */
	struct px_thing *waker;
	bool is_exclusive;

	if (!object || (call->has_failed && call->first.of_object.result != EOWNERDEAD))
		return NULL;
	/*
	 * Who has given it up just before the wait began may be the one all the same: if nobody can have had it in
	 * between.
	 */
	is_exclusive = object->object.type == PX_TXTB_MUTEX;
	if (object->released_at[i] <= (is_exclusive ? object->acquired_at : wait->began))
		return NULL;
	waker = px_things_of(translator->all.things, object->releaser[i]);
	return waker == call->self ? NULL : waker;
}

static void release(struct px_translator *translator, struct px_call_read *call, unsigned int i)
{
	call->object->releaser[i] = call->self->object.handle;
	call->object->released_at[i] = translator->now;
}

static bool is_once(enum px_call call)
{
	return call == PX_CALL_pthread_once || call == PX_CALL_call_once;
}

/* What the call does to its object, for those who wait for it.  Behind the search for a waker. */
static void take_effect(struct px_translator *translator, struct px_call_read *call)
{
	if (!call->object || (call->has_failed && call->first.of_object.result != EOWNERDEAD))
		return;
	switch (call->native) {
	case PX_NATIVE_MUTEX_GET:
	case PX_NATIVE_SEMAPHORE_GET:
		if (!call->begins)
			call->object->acquired_at = translator->now;
		return;
	case PX_NATIVE_MUTEX_PUT:
		if (call->first.of_object.count <= 1)
			release(translator, call, 0);
		return;
	case PX_NATIVE_SEMAPHORE_PUT:
	case PX_NATIVE_EVENT_FLAGS_SET:
		release(translator, call, 0);
		return;
	case PX_NATIVE_EVENT_FLAGS_GET:
		/* The last one to come to a barrier lets all go; so does who has run the function of once. */
		if ((call->call == PX_CALL_pthread_barrier_wait && !call->ends) ||
		    (is_once(call->call) && !call->begins && px_call_read_value(call) != 0))
			release(translator, call, 0);
		return;
	case PX_NATIVE_QUEUE_SEND:
	case PX_NATIVE_QUEUE_RECEIVE:
		if (!call->begins)
			release(translator, call, call->native == PX_NATIVE_QUEUE_RECEIVE);
		return;
	default:
		return;
	}
}

/* A wait is over: it is the one that was begun, or that was interrupted, or its beginning was lost. */
static void show_end(struct px_translator *translator, struct px_call_read *call)
{
	struct px_thing *self = call->self;
	const struct px_thing_wait *wait = &self->wait;
	struct px_thing *waker;
	struct px_shown *shown;

	if (self->depth > 0 && self->outer.call == (uint32_t)call->call &&
	    (!self->is_suspended || self->wait.call != (uint32_t)call->call)) {
		self->depth = 0; /* the handler has left it by a jump */
		wait = &self->outer;
	}
	waker = waker_of(translator, call, wait);
	if (self->is_suspended)
		resume(call->to, self, waker);
	else
		px_shown_add_by(call->to, NULL, PX_TXTB_RUNNING);
	if (call->native == 0) {
		px_shown_add_plainly(call->record, call->data, call->length, call->to);
		return;
	}
	call->to->own = call->to->nr_shown;
	shown = px_shown_add(call->to, self->object.handle, call->record->priority,
			     PX_TXTB_RUNNING);
	shown->info[0] = call->object ? call->object->object.handle : 0;
	shown->info[1] = call->facts->state;
	shown->info[2] = waker ? waker->object.handle : 0;
	shown->handles = (shown->info[0] ? 1 << 0 : 0) | (shown->info[2] ? 1 << 2 : 0);
	call->to->is_native = true;
}

/* Who waits for the end of a thread goes on with it. */
static void show_joiner(struct px_translator *translator, struct px_call_read *call)
{
	struct px_thing *joiner = px_things_of(translator->all.things, call->self->joiner);

	release(translator, call, 0);
	if (joiner && joiner != call->self && joiner->is_suspended &&
	    joiner->wait.object == call->self->object.handle)
		resume(call->to, joiner, call->self);
}

static void show_own(struct px_translator *translator, struct px_call_read *call)
{
	struct px_shown *shown;

	if (call->native == 0 || (call->has_failed && !px_callrules_is_attempt(call->native))) {
		px_shown_add_plainly(call->record, call->data, call->length, call->to);
		return;
	}
	if (call->call == PX_CALL_txtrace_thread_end)
		show_joiner(translator, call);
	call->to->own = call->to->nr_shown;
	call->to->is_native = true;
	shown = px_shown_add(call->to, call->self->object.handle, call->record->priority,
			     call->native);
	show_words(translator, call, shown);
	if (call->call != PX_CALL_txtrace_thread_end)
		return;
	if (shown->info[1] != STATE_TERMINATED)
		shown->info[1] = STATE_COMPLETED;
	call->self->wait = (struct px_thing_wait){.state = shown->info[1], .call = PX_CALLS};
	call->self->is_suspended = true;
	call->to->open = call->to->nr_shown;
}

/* A handler in a thread that sleeps: afterwards it sleeps again. */
static void enter_handler(struct px_call_read *call, bool was_suspended)
{
	struct px_thing *self = call->self;

	if (call->native == PX_NATIVE_ISR_ENTER && self->depth > 0) {
		self->depth++;
	} else if (call->native == PX_NATIVE_ISR_ENTER && was_suspended) {
		self->depth = 1;
		self->outer = self->wait;
	} else if (call->native == PX_NATIVE_ISR_EXIT && self->depth > 0 && --self->depth == 0) {
		self->wait = self->outer;
		suspend(call->to, self, call->record->priority);
	}
}

static void begin_wait(struct px_translator *translator, struct px_call_read *call)
{
	call->self->wait =
		(struct px_thing_wait){.began = translator->now,
				       .call = (uint32_t)call->call,
				       .state = call->facts->state ? call->facts->state : 12,
				       .object = call->object ? call->object->object.handle : 0};
	if (call->object && call->object->object.type == PX_TXTB_THREAD)
		call->object->joiner = call->self->object.handle;
	suspend(call->to, call->self, call->record->priority);
}

bool px_translate_is_call(const struct px_record *record, size_t length)
{
	enum px_call call;

	return record->flags & PX_RECORD_CALL && length >= sizeof(union px_call_data) &&
	       record->context != 0 && px_call_of_event(record->id, &call);
}

static void prepare(struct px_call_read *call)
{
	px_call_of_event(call->record->id, &call->call);
	memcpy(&call->first, call->data, sizeof(call->first));
	call->facts = &px_calls[call->call];
	call->native = call->facts->native;
	call->info = call->facts->info;
	call->begins = (call->record->flags & PX_RECORD_BEGINS) != 0;
	call->ends = !call->begins && (call->record->flags & PX_RECORD_ENDS);
	if (call->begins || call->facts->layout == PX_LAYOUT_WORDS)
		call->has_failed = false;
	else if (call->facts->layout == PX_LAYOUT_FD)
		call->has_failed = call->first.of_fd.result < 0;
	else
		call->has_failed = call->first.of_object.result != 0 &&
				   !(call->call == PX_CALL_pthread_barrier_wait &&
				     call->first.of_object.result == -1);
}

static void translate_call(struct px_translator *translator, struct px_call_read *call)
{
	bool was_suspended;

	translator->now++;
	prepare(call);
	px_callthings_find(&translator->all, call);
	px_callrules_convert(call);
	was_suspended = call->self->is_suspended;
	if (was_suspended && !call->ends)
		resume(call->to, call->self, NULL);
	if (call->ends)
		show_end(translator, call);
	else
		show_own(translator, call);
	take_effect(translator, call);
	enter_handler(call, was_suspended);
	if (call->begins)
		begin_wait(translator, call);
	px_callthings_follow(&translator->all, call);
}

void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation)
{
	struct px_call_read call = {
		.record = record, .data = data, .length = length, .to = translation};
	struct px_thing *thread;

	translation->nr_shown = translation->open = translation->changed = 0;
	px_callthings_forget(&translator->all);
	if (px_translate_is_call(record, length)) {
		translate_call(translator, &call);
		return;
	}
	thread = px_things_of(translator->all.things, record->context);
	if (thread && thread->is_suspended)
		resume(translation, thread, NULL);
	px_shown_add_plainly(record, data, length, translation);
}
