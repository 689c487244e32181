/* SPDX-License-Identifier: MIT */
#include "calls/resolve.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "calls/descriptors.h"
#include "calls/processes.h"
#include "calls/rules.h"

#define SOCKET_TYPE_MASK 0xF /* bits of the type of a socket; the other bits are flags */
#define SOCKET_STREAM 1
#define SOCKET_SEQUENCED 5

/* Threads. */

static void bind_thread(struct px_resolve *all, struct px_call_object *thread)
{
	struct px_key key = {
		.value = thread->object.thread, .pid = thread->object.pid, .space = PX_TXTB_THREAD};

	px_call_objects_bind(all->objects, &key, thread);
	if (!thread->object.tid)
		return;
	key.value = thread->object.tid;
	key.space = PX_SPACE_TID;
	px_call_objects_bind(all->objects, &key, thread);
}

/*
 * Return the thread with this handle.  If it is unknown, add it with the pid and the pthread_t of a
 * record.
 */
static struct px_call_object *thread_with(struct px_resolve *all, uint32_t handle, uint32_t pid,
					  uint64_t thread)
{
	struct px_call_object *found = px_call_objects_of(all->objects, handle);

	if (found)
		return found;
	found = px_call_objects_add(all->objects, PX_TXTB_THREAD, handle);
	if (!px_threadmap_find(all->threads, handle, &found->object) ||
	    found->object.type != PX_TXTB_THREAD) {
		found->object = (struct px_object){.handle = handle, .type = PX_TXTB_THREAD};
		snprintf(found->object.name, sizeof(found->object.name), "unknown thread %x",
			 handle);
	}
	found->object.pid = pid;
	found->object.thread = thread;
	found->address = thread;
	bind_thread(all, found);
	return found;
}

/*
 * Take what the stream lists of this thread.  The thread has listed its name before it recorded its first event.  So a
 * recorded call that has named the thread is later.
 */
static void identify(struct px_resolve *all, struct px_call_object *thread, const struct px_object *known)
{
	struct px_object former = thread->object;
	const char *end = strrchr(former.name, ' '); /* of the name, before the tid */

	thread->object = *known;
	if (thread->is_named && end)
		px_call_objects_name(all->objects, thread, former.name, (size_t)(end - former.name));
}

/*
 * Return the thread of the record.  A record of another thread may have added this thread before.  But only a record of
 * the thread itself has its exact identity.
 */
static struct px_call_object *thread_of(struct px_resolve *all, const struct px_call_read *call)
{
	const struct px_record *record = call->record;
	struct px_call_object *self = px_call_objects_of(all->objects, record->context);
	struct px_object known;

	if (!self || !self->has_program) {
		px_processes_start(all->objects, all->threads, call); /* this may forget the thread */
		self = thread_with(all, record->context, record->pid, record->thread);
		self->has_program = true;
	}
	self->priority = record->priority;
	if (self->is_known)
		return self;
	self->is_known = true;
	call->to->changed = record->context;
	if (px_threadmap_find(all->threads, record->context, &known) &&
	    known.type == PX_TXTB_THREAD)
		identify(all, self, &known);
	self->object.pid = record->pid;
	self->object.thread = self->address = record->thread;
	bind_thread(all, self);
	return self;
}

uint32_t px_resolve_with_tid(struct px_resolve *all, uint32_t pid, uint32_t tid)
{
	const struct px_key key = {.value = tid, .pid = pid, .space = PX_SPACE_TID};
	const struct px_call_object *thread = tid ? px_call_objects_at(all->objects, &key) : NULL;
	uint32_t handle;

	if (!tid || thread)
		return tid ? thread->object.handle : 0;
	handle = px_threadmap_find_tid(all->threads, pid, tid);
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
		.value = (uint32_t)fd, .pid = call->fd_pid, .space = PX_SPACE_FD};
}

static void name_object(struct px_resolve *all, const struct px_call_read *call,
			struct px_call_object *object, bool has_text)
{
	const struct px_key key = {
		.value = object->address, .pid = object->object.pid, .space = PX_SPACE_NAME};
	const struct px_call_object *kept = NULL;
	const char *text = NULL;
	size_t length;

	if (has_text)
		text = px_call_read_text(call, &length);
	if (!text && !px_call_objects_is_descriptor(object))
		kept = px_call_objects_at(all->objects, &key);
	if (kept)
		px_call_objects_name(all->objects, object, kept->object.name,
				     strlen(kept->object.name));
	else if (text)
		px_call_objects_name(all->objects, object, text, length);
	else
		px_call_objects_name_by_address(all->objects, object);
}

static struct px_call_object *new_object(struct px_resolve *all, const struct px_call_read *call,
					 enum px_txtb_object_type type, const struct px_key *key,
					 bool has_text)
{
	struct px_call_object *object = px_call_objects_add(all->objects, type, 0);

	object->object.pid = call->record->pid;
	object->address = key->value;
	object->site = call->record->address;
	object->first_user = call->record->context;
	object->object.program = call->self->object.program;
	if (key->space == PX_SPACE_FD)
		px_descriptors_open(all->objects, key->pid, (int)key->value, object);
	else
		px_call_objects_bind(all->objects, key, object);
	name_object(all, call, object, has_text && !all->is_losing);
	return object;
}

/*
 * The thread table keeps only the newest threads.  When the first event of a thread is translated, the table may no
 * longer have that thread.  Then take the tid from the event.  The name of the thread stays unknown.
 */
static void identify_started(struct px_resolve *all, struct px_call_object *self, uint32_t tid)
{
	if (self->object.tid || !tid)
		return;
	self->object.tid = tid;
	snprintf(self->object.name, sizeof(self->object.name), "thread %u", tid);
	bind_thread(all, self);
}

static void find_thread(struct px_resolve *all, struct px_call_read *call)
{
	const struct px_key key = address_key(call, PX_TXTB_THREAD);
	bool creates = call->native == PX_NATIVE_THREAD_CREATE;

	if (call->call == PX_CALL_txtrace_thread_start)
		identify_started(all, call->self, call->first.of_object.value);
	if (call->call == PX_CALL_txtrace_thread_start || call->call == PX_CALL_txtrace_thread_end)
		call->object = call->self;
	else if (creates && !call->has_failed && px_is_thread(call->first.of_object.value)) {
		call->object = thread_with(all, call->first.of_object.value, call->record->pid,
					   key.value);
		px_call_objects_bind(all->objects, &key, call->object);
	} else if (!creates)
		call->object = px_call_objects_at(all->objects, &key);
}

/*
 * Find the object at the address in the call, or add one.  If the call creates an object, add a new object.  sem_open()
 * is different: it may open a named semaphore again, and then the object is the same.
 */
static void find_by_address(struct px_resolve *all, struct px_call_read *call)
{
	const struct px_key key = address_key(call, call->facts->object);
	bool is_named = call->call == PX_CALL_sem_open;

	if (call->facts->object == PX_TXTB_THREAD) {
		find_thread(all, call);
		return;
	}
	if (call->has_failed && px_rules_is_creation(call->native))
		return;
	call->object = px_call_objects_at(all->objects, &key);
	if (call->object && px_rules_is_creation(call->native) && !is_named) {
		px_call_objects_unbind(all->objects, &key);
		call->object = NULL;
	}
	if (!call->object)
		call->object = new_object(all, call, (enum px_txtb_object_type)call->facts->object,
					  &key, is_named);
	call->object->nr_opened += is_named;
}

static bool is_socket(uint32_t type)
{
	return type == PX_TXTB_TCP_SOCKET || type == PX_TXTB_UDP_SOCKET;
}

/* Return true if the object of a descriptor has another type than this call needs. */
static bool is_other(const struct px_call_read *call, const struct px_call_object *object)
{
	if (is_socket(call->facts->object))
		return !is_socket(object->object.type);
	return call->facts->object == PX_TXTB_QUEUE && object->object.type != PX_TXTB_QUEUE;
}

static struct px_call_object *object_of_fd(struct px_resolve *all, const struct px_call_read *call,
					   int fd)
{
	const struct px_key key = fd_key(call, fd);
	struct px_call_object *object;

	if (fd < 0)
		return NULL;
	object = px_descriptors_at(all->objects, call->fd_pid, fd);
	if (object && !is_other(call, object))
		return object;
	return new_object(all, call, (enum px_txtb_object_type)call->facts->object, &key, false);
}

/* Return true if the call opened descriptors that execve() closes.  Sockets and epoll have the bit of O_CLOEXEC. */
static bool ends_with_exec(const struct px_call_read *call)
{
	switch (call->call) {
	case PX_CALL_open:
	case PX_CALL_socket:
	case PX_CALL_socketpair:
	case PX_CALL_epoll_create:
		return call->first.of_fd.value & O_CLOEXEC;
	case PX_CALL_mq_open: /* the kernel closes all of them */
		return true;
	default:
		return call->record->flags & PX_RECORD_ENDS_WITH_EXEC;
	}
}

static void mark_opened(struct px_resolve *all, const struct px_call_read *call, int64_t fd)
{
	if (ends_with_exec(call))
		px_descriptors_end_with_exec(all->objects, call->fd_pid, (int)fd, true);
}

/* Add the object of a new descriptor.  The number no longer refers to an earlier object. */
static struct px_call_object *begin_fd(struct px_resolve *all, const struct px_call_read *call,
				       enum px_txtb_object_type type, int64_t fd)
{
	const struct px_key key = fd_key(call, (int)fd);
	bool has_text = call->call == PX_CALL_open || call->call == PX_CALL_fopen ||
			call->call == PX_CALL_mq_open;
	struct px_call_object *object;

	if (fd < 0 || fd > INT32_MAX)
		return NULL;
	px_descriptors_close(all->objects, call->fd_pid, (int)fd);
	object = new_object(all, call, type, &key, has_text);
	mark_opened(all, call, fd);
	return object;
}

/*
 * The object of a call that opens a path.  If the call waits, make the object when the wait begins, with the descriptor
 * -1.  At the end of the wait, the object gets its real descriptor.
 */
static struct px_call_object *begin_opened(struct px_resolve *all, const struct px_call_read *call)
{
	const struct px_call_object_wait *wait = &call->self->wait;
	int64_t fd = call->first.of_fd.fd >= 0 ? call->first.of_fd.fd : call->first.of_fd.result;
	enum px_txtb_object_type type = (enum px_txtb_object_type)call->facts->object;
	const struct px_key key = fd_key(call, -1);
	struct px_call_object *object = NULL;

	if (call->begins)
		return new_object(all, call, type, &key, true);
	if (call->ends && call->self->is_suspended && wait->call == (uint32_t)call->call)
		object = px_call_objects_of(all->objects, wait->object);
	if (!object || call->has_failed || fd < 0 || fd > INT32_MAX)
		return call->has_failed ? object : begin_fd(all, call, type, fd);
	px_descriptors_open(all->objects, call->fd_pid, (int)fd, object);
	mark_opened(all, call, fd);
	return object;
}

static enum px_txtb_object_type type_of_socket(uint32_t value)
{
	uint32_t type = value & SOCKET_TYPE_MASK;

	return type == SOCKET_STREAM || type == SOCKET_SEQUENCED ? PX_TXTB_TCP_SOCKET :
								   PX_TXTB_UDP_SOCKET;
}

static void begin_pair(struct px_resolve *all, struct px_call_read *call)
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
	begin_fd(all, call, type, other);
	call->object = begin_fd(all, call, type, call->first.of_fd.fd);
}

static void duplicate(struct px_resolve *all, struct px_call_read *call)
{
	int64_t fd = call->first.of_fd.result;

	call->object = object_of_fd(all, call, call->first.of_fd.fd);
	if (!call->object || fd < 0 || fd > INT32_MAX || fd == call->first.of_fd.fd)
		return;
	px_descriptors_open(all->objects, call->fd_pid, (int)fd, call->object);
	mark_opened(all, call, fd);
}

static void find_by_fd(struct px_resolve *all, struct px_call_read *call)
{
	int64_t result = call->first.of_fd.result;

	switch (call->call) {
	case PX_CALL_open:
	case PX_CALL_fopen:
		call->object = begin_opened(all, call);
		return;
	case PX_CALL_mq_open:
	case PX_CALL_epoll_create:
		if (!call->has_failed)
			call->object =
				begin_fd(all, call, (enum px_txtb_object_type)call->facts->object,
					 call->first.of_fd.fd >= 0 ? call->first.of_fd.fd : result);
		return;
	case PX_CALL_socket:
		if (!call->has_failed)
			call->object = begin_fd(all, call, type_of_socket(call->first.of_fd.value),
						result);
		return;
	case PX_CALL_socketpair:
	case PX_CALL_pipe:
		if (!call->has_failed)
			begin_pair(all, call);
		return;
	case PX_CALL_dup:
		if (!call->has_failed)
			duplicate(all, call);
		return;
	case PX_CALL_accept:
		call->object = object_of_fd(all, call, call->first.of_fd.fd);
		if (!call->begins && !call->has_failed)
			begin_fd(all, call, PX_TXTB_TCP_SOCKET, result);
		return;
	default:
		call->object = object_of_fd(all, call, call->first.of_fd.fd);
	}
}

/* Each process has one object for its heap. */
static void find_pool(struct px_resolve *all, struct px_call_read *call)
{
	const struct px_key key = {.pid = call->record->pid, .space = PX_TXTB_BYTE_POOL};

	call->object = px_call_objects_at(all->objects, &key);
	if (!call->object)
		call->object = new_object(all, call, PX_TXTB_BYTE_POOL, &key, false);
}

/*
 * The object of counted calls is that of each of these calls.  ThreadX has no such event.  So the image shows a user
 * event, but with the handle of the object in its words.
 */
static void find_counted(struct px_resolve *all, struct px_call_read *call)
{
	uint32_t counted = call->first.of_object.count;
	const struct px_call_facts *facts = call->facts;

	if (counted >= PX_CALLS || px_calls_counted[counted] == PX_COUNTED_NOT)
		return;
	call->facts = &px_calls[counted];
	if (call->facts->object == PX_TXTB_BYTE_POOL)
		find_pool(all, call);
	else if (call->facts->object != PX_CALL_OBJECT_NONE)
		find_by_address(all, call);
	call->facts = facts;
	if (call->object) {
		call->native = PX_TXTB_USER_EVENT + call->record->id;
		call->has_failed = false;
	}
}

static void find_object(struct px_resolve *all, struct px_call_read *call)
{
	if (call->call == PX_CALL_txtrace_calls)
		find_counted(all, call);
	if (call->facts->object == PX_CALL_OBJECT_NONE)
		return;
	if (call->facts->layout == PX_LAYOUT_WORDS)
		find_pool(all, call);
	else if (call->facts->layout == PX_LAYOUT_FD)
		find_by_fd(all, call);
	else
		find_by_address(all, call);
}

void px_resolve_find(struct px_resolve *all, struct px_call_read *call)
{
	px_call_objects_set_ticks(all->objects, call->record->counter);
	call->self = thread_of(all, call);
	call->fd_pid = px_processes_of_descriptors(all->objects, call->self, call->record->pid);
	find_object(all, call);
}

/* Names and ends. */

/* The call is about a descriptor: follow how it changes whether execve() closes that descriptor. */
static void follow_marks(struct px_resolve *all, const struct px_call_read *call)
{
	if (call->call == PX_CALL_fcntl && call->first.of_fd.value == F_SETFD && !call->has_failed)
		px_descriptors_end_with_exec(all->objects, call->fd_pid, call->first.of_fd.fd,
					     call->record->flags & PX_RECORD_ENDS_WITH_EXEC);
	if (call->call == PX_CALL_ioctl && !call->has_failed &&
	    (call->first.of_fd.value == FIOCLEX || call->first.of_fd.value == FIONCLEX))
		px_descriptors_end_with_exec(all->objects, call->fd_pid, call->first.of_fd.fd,
					     call->first.of_fd.value == FIOCLEX);
}

static void rename_thread(struct px_resolve *all, struct px_call_read *call)
{
	size_t length;
	const char *text = px_call_read_text(call, &length);

	if (!text || !call->object || call->has_failed)
		return;
	px_call_objects_name(all->objects, call->object, text, length);
	call->object->is_named = true;
	call->to->changed = call->object->object.handle;
}

/*
 * Keep the name for later objects at this address, and give it to the objects that are at this
 * address now.
 */
static void name_address(struct px_resolve *all, struct px_call_read *call)
{
	struct px_key key = address_key(call, PX_SPACE_NAME);
	struct px_call_object *object = px_call_objects_at(all->objects, &key);
	size_t length;
	const char *text = px_call_read_text(call, &length);

	if (!text)
		return;
	if (!object) {
		object = px_call_objects_add(all->objects, PX_TXTB_UNUSED, 0);
		px_call_objects_bind(all->objects, &key, object);
	}
	snprintf(object->object.name, sizeof(object->object.name), "%.*s", (int)length, text);
	for (key.space = PX_TXTB_TIMER; key.space <= PX_TXTB_BYTE_POOL; key.space++) {
		object = px_call_objects_at(all->objects, &key);
		if (!object)
			continue;
		px_call_objects_name(all->objects, object, text, length);
		call->to->changed = object->object.handle;
	}
}

/*
 * If the call ends its object, store the key for px_resolve_forget().  Also forget the name of its address, because
 * this name does not apply to the next object there.
 */
static void end_object(struct px_resolve *all, struct px_call_read *call)
{
	struct px_key name = address_key(call, PX_SPACE_NAME);

	if (!call->object || !px_rules_is_end(call->native) || call->has_failed || call->begins)
		return;
	if (call->call == PX_CALL_sem_close && call->object->nr_opened > 1) {
		call->object->nr_opened--;
		return;
	}
	if (call->facts->layout == PX_LAYOUT_FD) {
		all->ending = fd_key(call, call->first.of_fd.fd);
	} else {
		all->ending = address_key(call, call->facts->object);
		px_call_objects_unbind(all->objects, &name);
	}
	all->has_ending = true;
}

void px_resolve_follow(struct px_resolve *all, struct px_call_read *call)
{
	px_processes_follow(all->objects, call);
	follow_marks(all, call);
	if (call->call == PX_CALL_pthread_setname_np)
		rename_thread(all, call);
	if (call->call == PX_CALL_txtrace_object_name)
		name_address(all, call);
	end_object(all, call);
}

void px_resolve_forget(struct px_resolve *all)
{
	if (all->has_ending && all->ending.space == PX_SPACE_FD)
		px_descriptors_close(all->objects, all->ending.pid, (int)all->ending.value);
	else if (all->has_ending)
		px_call_objects_unbind(all->objects, &all->ending);
	all->has_ending = false;
}

void px_resolve_lose(struct px_resolve *all, bool is_losing)
{
	all->is_losing = is_losing;
	px_call_objects_lose_descriptors(all->objects);
}

void px_resolve_restore(struct px_resolve *all, const struct px_object *object, uint64_t address,
			uint64_t site)
{
	struct px_key key = {.value = address, .pid = object->pid, .space = object->type};
	const struct px_call_object *younger;
	struct px_call_object *restored;

	if (object->handle == 0 || px_call_objects_find(all->objects, object->handle))
		return;
	restored = px_call_objects_add(all->objects, (enum px_txtb_object_type)object->type,
				       object->handle);
	restored->object = *object;
	restored->address = address;
	restored->site = site;
	px_call_objects_mark_name(all->objects, object->name);
	if (object->type == PX_TXTB_THREAD) {
		restored->address = object->thread;
		restored->is_known = object->pid != 0;
		bind_thread(all, restored);
		return;
	}
	/* Descriptors may have changed since, by calls of which the log only has the events. */
	if (px_call_objects_is_descriptor(restored))
		key.space = PX_SPACE_RESTORED_FD;
	/*
	 * The log also has destroyed objects.  If there are several objects at one address, only the newest is valid.
	 */
	younger = px_call_objects_at(all->objects, &key);
	if (!younger || (younger->object.handle & 0xFFFFFF) < (object->handle & 0xFFFFFF))
		px_call_objects_bind(all->objects, &key, restored);
}
