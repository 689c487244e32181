/* SPDX-License-Identifier: MIT */
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callread.h"
#include "callrules.h"
#include "calls.h"

#define STATE_COMPLETED 1
#define STATE_TERMINATED 2
#define SOCKET_TYPE_MASK 0xF /* beside it are flags */
#define SOCKET_STREAM 1
#define SOCKET_SEQUENCED 5

struct px_translator {
	const struct px_objects *threads;
	struct px_things *things;
	uint64_t now; /* counts calls */
	bool has_ending;
	struct px_key ending; /* let go with the next record: a log may still look the object up */
};

struct px_translator *px_translator_make(const struct px_objects *threads)
{
	struct px_translator *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->threads = threads;
	made->things = px_things_make();
	if (made->things)
		return made;
	free(made);
	return NULL;
}

void px_translator_free(struct px_translator *translator)
{
	if (!translator)
		return;
	px_things_free(translator->things);
	free(translator);
}

struct px_things *px_translator_things(struct px_translator *translator)
{
	return translator->things;
}

const struct px_thing *px_translator_find(const struct px_translator *translator, uint32_t handle)
{
	return px_things_look(translator->things, handle);
}

/* Threads. */

static void bind_thread(struct px_translator *translator, struct px_thing *thread)
{
	struct px_key key = {
		.value = thread->object.thread, .pid = thread->object.pid, .space = PX_TXTB_THREAD};

	px_things_bind(translator->things, &key, thread);
	if (!thread->object.tid)
		return;
	key.value = thread->object.tid;
	key.space = PX_SPACE_TID;
	px_things_bind(translator->things, &key, thread);
}

/* The thread with this handle; pid and pthread_t as somebody has told them. */
static struct px_thing *thread_with(struct px_translator *translator, uint32_t handle, uint32_t pid,
				    uint64_t thread)
{
	struct px_thing *found = px_things_of(translator->things, handle);

	if (found)
		return found;
	found = px_things_add(translator->things, PX_TXTB_THREAD, handle);
	if (!px_objects_find(translator->threads, handle, &found->object) ||
	    found->object.type != PX_TXTB_THREAD) {
		found->object = (struct px_object){.handle = handle, .type = PX_TXTB_THREAD};
		snprintf(found->object.name, sizeof(found->object.name), "unknown thread %x",
			 handle);
	}
	found->object.pid = pid;
	found->object.thread = thread;
	found->address = thread;
	bind_thread(translator, found);
	return found;
}

/* A thread may have been told of before it had recorded anything: who it is is known by now. */
static struct px_thing *thread_of(struct px_translator *translator, const struct px_record *record,
				  struct px_translation *to)
{
	struct px_thing *self = thread_with(translator, record->context, record->pid,
					    record->thread);
	struct px_object known;

	self->priority = record->priority;
	if (self->is_known)
		return self;
	self->is_known = true;
	to->changed = record->context;
	if (px_objects_find(translator->threads, record->context, &known) &&
	    known.type == PX_TXTB_THREAD)
		self->object = known;
	self->object.pid = record->pid;
	self->object.thread = self->address = record->thread;
	bind_thread(translator, self);
	return self;
}

/* One that has been introduced, and of which no record was read yet. */
static uint32_t look_for_tid(const struct px_objects *threads, uint32_t pid, uint32_t tid)
{
	uint64_t next = px_load_acquire(&threads->next);
	uint64_t oldest = next > PX_OBJECTS_MAX ? next - PX_OBJECTS_MAX : 0;
	struct px_object object;

	for (uint64_t serial = next; serial-- > oldest;)
		if (px_objects_get(threads, serial, &object) && object.type == PX_TXTB_THREAD &&
		    object.pid == pid && object.tid == tid)
			return object.handle;
	return 0;
}

/* 0: nobody; and somebody who is not traced is not nobody. */
static uint32_t thread_with_tid(struct px_translator *translator, uint32_t pid, uint32_t tid)
{
	const struct px_key key = {.value = tid, .pid = pid, .space = PX_SPACE_TID};
	const struct px_thing *thread = tid ? px_things_at(translator->things, &key) : NULL;
	uint32_t handle;

	if (!tid || thread)
		return tid ? thread->object.handle : 0;
	handle = look_for_tid(translator->threads, pid, tid);
	return handle ? handle : PX_NO_THREAD;
}

/* Objects. */

static struct px_key address_key(const struct px_call_read *call, uint32_t space)
{
	return (struct px_key){
		.value = call->first.of_object.object, .pid = call->record->pid, .space = space};
}

static struct px_key fd_key(const struct px_call_read *call, int fd)
{
	return (struct px_key){
		.value = (uint32_t)fd, .pid = call->record->pid, .space = PX_SPACE_FD};
}

/* What follows the first bytes as a text. */
static const char *text_of(const struct px_call_read *call, size_t *length)
{
	const char *text = (const char *)call->data + sizeof(call->first);

	*length = strnlen(text, call->length - sizeof(call->first));
	return *length > 0 ? text : NULL;
}

static void name_object(struct px_translator *translator, const struct px_call_read *call,
			struct px_thing *thing, bool has_text)
{
	const struct px_key key = {
		.value = thing->address, .pid = thing->object.pid, .space = PX_SPACE_NAME};
	const struct px_thing *kept = NULL;
	const char *text = NULL;
	size_t length;

	if (has_text)
		text = text_of(call, &length);
	if (!text && !px_things_is_descriptor(thing))
		kept = px_things_at(translator->things, &key);
	if (kept)
		px_things_name(translator->things, thing, kept->object.name,
			       strlen(kept->object.name));
	else if (text)
		px_things_name(translator->things, thing, text, length);
	else
		px_things_name_by_address(translator->things, thing);
}

static struct px_thing *new_object(struct px_translator *translator,
				   const struct px_call_read *call, enum px_txtb_object_type type,
				   const struct px_key *key, bool has_text)
{
	struct px_thing *thing = px_things_add(translator->things, type, 0);

	thing->object.pid = call->record->pid;
	thing->address = key->value;
	thing->site = call->record->address;
	px_things_bind(translator->things, key, thing);
	name_object(translator, call, thing, has_text);
	return thing;
}

static void find_thread(struct px_translator *translator, struct px_call_read *call)
{
	const struct px_key key = address_key(call, PX_TXTB_THREAD);
	bool creates = call->native == PX_NATIVE_THREAD_CREATE;

	if (call->call == PX_CALL_txtrace_thread_start || call->call == PX_CALL_txtrace_thread_end)
		call->object = call->self;
	else if (creates && !call->has_failed &&
		 call->first.of_object.value >> 24 == PX_TXTB_THREAD) {
		call->object = thread_with(translator, call->first.of_object.value,
					   call->record->pid, key.value);
		px_things_bind(translator->things, &key, call->object);
	} else if (!creates)
		call->object = px_things_at(translator->things, &key);
}

/* The same named semaphore opened again is the same one. */
static void find_by_address(struct px_translator *translator, struct px_call_read *call)
{
	const struct px_key key = address_key(call, call->facts->object);
	bool is_named = call->call == PX_CALL_sem_open;

	if (call->facts->object == PX_TXTB_THREAD) {
		find_thread(translator, call);
		return;
	}
	if (call->has_failed && px_callrules_is_creation(call->native))
		return;
	call->object = px_things_at(translator->things, &key);
	if (call->object && px_callrules_is_creation(call->native) && !is_named) {
		px_things_unbind(translator->things, &key);
		call->object = NULL;
	}
	if (!call->object)
		call->object = new_object(translator, call,
					  (enum px_txtb_object_type)call->facts->object, &key,
					  is_named);
	call->object->nr_opened += is_named;
}

static bool is_socket(uint32_t type)
{
	return type == PX_TXTB_TCP_SOCKET || type == PX_TXTB_UDP_SOCKET;
}

/* True if what a descriptor was taken for is not what it must be for this call. */
static bool is_other(const struct px_call_read *call, const struct px_thing *thing)
{
	if (is_socket(call->facts->object))
		return !is_socket(thing->object.type);
	return call->facts->object == PX_TXTB_QUEUE && thing->object.type != PX_TXTB_QUEUE;
}

/* A child has the descriptors of its parent, and what they stand for is the same. */
static struct px_thing *inherited_fd(struct px_translator *translator, const struct px_key *key)
{
	const struct px_key child = {.value = key->pid, .space = PX_SPACE_CHILD};
	const struct px_thing *parent = px_things_at(translator->things, &child);
	struct px_key of_parent = *key;
	struct px_thing *thing;

	if (!parent)
		return NULL;
	of_parent.pid = parent->object.pid;
	thing = px_things_at(translator->things, &of_parent);
	if (thing)
		px_things_bind(translator->things, key, thing);
	return thing;
}

static struct px_thing *object_of_fd(struct px_translator *translator,
				     const struct px_call_read *call, int fd)
{
	const struct px_key key = fd_key(call, fd);
	struct px_thing *thing = px_things_at(translator->things, &key);

	if (fd < 0)
		return NULL;
	if (!thing)
		thing = inherited_fd(translator, &key);
	if (thing && !is_other(call, thing))
		return thing;
	return new_object(translator, call, (enum px_txtb_object_type)call->facts->object, &key,
			  false);
}

/* A descriptor that begins: whatever had its number before is gone. */
static struct px_thing *begin_fd(struct px_translator *translator, const struct px_call_read *call,
				 enum px_txtb_object_type type, int64_t fd)
{
	const struct px_key key = fd_key(call, (int)fd);
	bool has_text = call->call == PX_CALL_open || call->call == PX_CALL_fopen ||
			call->call == PX_CALL_mq_open;

	if (fd < 0 || fd > INT32_MAX)
		return NULL;
	px_things_unbind(translator->things, &key);
	return new_object(translator, call, type, &key, has_text);
}

static enum px_txtb_object_type type_of_socket(uint32_t value)
{
	uint32_t type = value & SOCKET_TYPE_MASK;

	return type == SOCKET_STREAM || type == SOCKET_SEQUENCED ? PX_TXTB_TCP_SOCKET :
								   PX_TXTB_UDP_SOCKET;
}

static void begin_pair(struct px_translator *translator, struct px_call_read *call)
{
	int other = (int)call->first.of_fd.value;
	enum px_txtb_object_type type = PX_TXTB_FILE;

	if (call->call == PX_CALL_socketpair) {
		type = type_of_socket(call->first.of_fd.value);
		other = -1;
		if (call->length >= sizeof(call->first) + sizeof(other))
			memcpy(&other, (const char *)call->data + sizeof(call->first),
			       sizeof(other));
	}
	begin_fd(translator, call, type, other);
	call->object = begin_fd(translator, call, type, call->first.of_fd.fd);
}

static void duplicate(struct px_translator *translator, struct px_call_read *call)
{
	int64_t fd = call->first.of_fd.result;
	const struct px_key key = fd_key(call, (int)fd);

	call->object = object_of_fd(translator, call, call->first.of_fd.fd);
	if (call->object && fd >= 0 && fd <= INT32_MAX && fd != call->first.of_fd.fd)
		px_things_bind(translator->things, &key, call->object);
}

static void find_by_fd(struct px_translator *translator, struct px_call_read *call)
{
	int64_t result = call->first.of_fd.result;

	switch (call->call) {
	case PX_CALL_open:
	case PX_CALL_fopen:
	case PX_CALL_mq_open:
	case PX_CALL_epoll_create:
		if (!call->has_failed)
			call->object = begin_fd(
				translator, call, (enum px_txtb_object_type)call->facts->object,
				call->first.of_fd.fd >= 0 ? call->first.of_fd.fd : result);
		return;
	case PX_CALL_socket:
		if (!call->has_failed)
			call->object = begin_fd(translator, call,
						type_of_socket(call->first.of_fd.value), result);
		return;
	case PX_CALL_socketpair:
	case PX_CALL_pipe:
		if (!call->has_failed)
			begin_pair(translator, call);
		return;
	case PX_CALL_dup:
		if (!call->has_failed)
			duplicate(translator, call);
		return;
	case PX_CALL_accept:
		call->object = object_of_fd(translator, call, call->first.of_fd.fd);
		if (!call->begins && !call->has_failed)
			begin_fd(translator, call, PX_TXTB_TCP_SOCKET, result);
		return;
	default:
		call->object = object_of_fd(translator, call, call->first.of_fd.fd);
	}
}

/* The heap is one object of its process. */
static void find_pool(struct px_translator *translator, struct px_call_read *call)
{
	const struct px_key key = {.pid = call->record->pid, .space = PX_TXTB_BYTE_POOL};

	call->object = px_things_at(translator->things, &key);
	if (!call->object)
		call->object = new_object(translator, call, PX_TXTB_BYTE_POOL, &key, false);
}

static void find_object(struct px_translator *translator, struct px_call_read *call)
{
	if (call->facts->object == PX_CALL_OBJECT_NONE)
		return;
	if (call->facts->layout == PX_LAYOUT_WORDS)
		find_pool(translator, call);
	else if (call->facts->layout == PX_LAYOUT_FD)
		find_by_fd(translator, call);
	else
		find_by_address(translator, call);
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
		return thread_with_tid(translator, call->record->pid, px_call_read_value(call));
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
	waker = px_things_of(translator->things, object->releaser[i]);
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
	struct px_thing *joiner = px_things_of(translator->things, call->self->joiner);

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

/* Whose child a process is: as far back as that is remembered. */
static void note_child(struct px_translator *translator, const struct px_call_read *call)
{
	struct px_key key = {.space = PX_SPACE_CHILD};
	struct px_thing *child;

	if (call->call != PX_CALL_fork || call->first.of_fd.result <= 0)
		return;
	key.value = (uint64_t)call->first.of_fd.result;
	child = px_things_add(translator->things, PX_TXTB_UNUSED, 0);
	child->object.pid = call->record->pid;
	px_things_bind(translator->things, &key, child);
}

/* Names and ends. */

static void rename_thread(struct px_translator *translator, struct px_call_read *call)
{
	size_t length;
	const char *text = text_of(call, &length);

	if (!text || !call->object || call->has_failed)
		return;
	px_things_name(translator->things, call->object, text, length);
	call->to->changed = call->object->object.handle;
}

/* The name is kept for what will be there, and what is there has it at once. */
static void name_address(struct px_translator *translator, struct px_call_read *call)
{
	struct px_key key = address_key(call, PX_SPACE_NAME);
	struct px_thing *thing = px_things_at(translator->things, &key);
	size_t length;
	const char *text = text_of(call, &length);

	if (!text)
		return;
	if (!thing) {
		thing = px_things_add(translator->things, PX_TXTB_UNUSED, 0);
		px_things_bind(translator->things, &key, thing);
	}
	snprintf(thing->object.name, sizeof(thing->object.name), "%.*s", (int)length, text);
	for (key.space = PX_TXTB_TIMER; key.space <= PX_TXTB_BYTE_POOL; key.space++) {
		thing = px_things_at(translator->things, &key);
		if (!thing)
			continue;
		px_things_name(translator->things, thing, text, length);
		call->to->changed = thing->object.handle;
	}
}

/* What a name was given to is gone: it is not that of what comes to stand there. */
static void end_object(struct px_translator *translator, struct px_call_read *call)
{
	struct px_key name = address_key(call, PX_SPACE_NAME);

	if (!call->object || !px_callrules_is_end(call->native) || call->has_failed || call->begins)
		return;
	if (call->call == PX_CALL_sem_close && call->object->nr_opened > 1) {
		call->object->nr_opened--;
		return;
	}
	if (call->facts->layout == PX_LAYOUT_FD) {
		translator->ending = fd_key(call, call->first.of_fd.fd);
	} else {
		translator->ending = address_key(call, call->facts->object);
		px_things_unbind(translator->things, &name);
	}
	translator->has_ending = true;
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
	call->self = thread_of(translator, call->record, call->to);
	find_object(translator, call);
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
	note_child(translator, call);
	if (call->call == PX_CALL_pthread_setname_np)
		rename_thread(translator, call);
	if (call->call == PX_CALL_txtrace_object_name)
		name_address(translator, call);
	end_object(translator, call);
}

void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation)
{
	struct px_call_read call = {
		.record = record, .data = data, .length = length, .to = translation};
	struct px_thing *thread;

	translation->nr_shown = translation->open = translation->changed = 0;
	if (translator->has_ending)
		px_things_unbind(translator->things, &translator->ending);
	translator->has_ending = false;
	if (px_translate_is_call(record, length)) {
		translate_call(translator, &call);
		return;
	}
	thread = px_things_of(translator->things, record->context);
	if (thread && thread->is_suspended)
		resume(translation, thread, NULL);
	px_shown_add_plainly(record, data, length, translation);
}

void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site)
{
	struct px_key key = {.value = address, .pid = object->pid, .space = object->type};
	const struct px_thing *younger;
	struct px_thing *thing;

	if (object->handle == 0 || px_things_look(translator->things, object->handle))
		return;
	thing = px_things_add(translator->things, (enum px_txtb_object_type)object->type,
			      object->handle);
	thing->object = *object;
	thing->address = address;
	thing->site = site;
	px_things_note_name(translator->things, object->name);
	if (object->type == PX_TXTB_THREAD) {
		thing->address = object->thread;
		thing->is_known = object->pid != 0;
		bind_thread(translator, thing);
		return;
	}
	if (px_things_is_descriptor(thing))
		key.space = PX_SPACE_FD;
	/* The registry also has what was destroyed.  What came to stand there is younger. */
	younger = px_things_at(translator->things, &key);
	if (!younger || (younger->object.handle & 0xFFFFFF) < (object->handle & 0xFFFFFF))
		px_things_bind(translator->things, &key, thing);
}
