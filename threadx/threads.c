/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer.h"
#include "registry.h"

#define PRIORITY_MAX 1023u

_Static_assert(PX_TX_NAME_SIZE >= 16 + 1 + 10, "a name of the kernel, a space, a number");

static pthread_key_t key; /* its destructor runs at the end of a thread that has an object */
static bool has_key;

static uintptr_t own_address(void)
{
	return (uintptr_t)pthread_self();
}

bool px_tx_thread_is_own(uintptr_t address)
{
	return address == own_address();
}

/* The priority on the scale of the kernel, as in logs: 0 to 98 for real-time threads, 100 to 139 for nice values. */
static uint32_t priority_of_thread(void)
{
	struct sched_param parameter;
	long policy = syscall(SYS_sched_getscheduler, 0);

	if ((policy == SCHED_FIFO || policy == SCHED_RR) && syscall(SYS_sched_getparam, 0, &parameter) == 0)
		return (uint32_t)(99 - parameter.sched_priority);
	return (uint32_t)(140 - syscall(SYS_getpriority, PRIO_PROCESS, 0));
}

static uint32_t priority_word(uint32_t priority, uint32_t threshold)
{
	return 0x80000000u | threshold << 16 | priority;
}

void px_tx_thread_fill_priority(struct px_tx_object *object)
{
	object->has_priority = true;
	object->priority = priority_of_thread();
}

/* Append a space and the number.  name has room for it. */
static void append_number(char *name, uint32_t number)
{
	char digits[10];
	size_t length = strlen(name), n = 0;

	for (name[length++] = ' '; number != 0 || n == 0; number /= 10)
		digits[n++] = (char)('0' + number % 10);
	while (n > 0)
		name[length++] = digits[--n];
	name[length] = '\0';
}

static struct px_tx_object *add_self(uintptr_t address)
{
	static const uint32_t none[2];
	char name[PX_TX_NAME_SIZE] = "";

	/* The names of threads are often equal, and the viewer's menu shows only one of those. */
	prctl(PR_GET_NAME, name);
	append_number(name, (uint32_t)syscall(SYS_gettid));
	return px_tx_objects_add(address, PX_TX_TYPE_THREAD, name, none);
}

void px_tx_thread_identify(struct px_tx_thread *self)
{
	struct px_tx_object *object;

	if (self->handle != 0)
		return;
	object = px_tx_objects_get(own_address());
	if (!object || !object->is_live || object->type != PX_TX_TYPE_THREAD)
		object = add_self(own_address());
	if (!object) {
		/* Memory is short.  An event needs a context that is no object. */
		self->handle = 0xF0F0F0F0u;
		self->priority = 0;
		return;
	}
	px_tx_thread_fill_priority(object);
	self->priority = priority_word(object->priority, object->priority);
	self->handle = object->handle;
	px_tx_registry_add(object);
	if (has_key)
		pthread_setspecific(key, self);
}

bool px_tx_thread_set(struct px_tx_thread *self, uintptr_t address, uint32_t priority, uint32_t threshold)
{
	struct px_tx_object *object = px_tx_objects_get(address);

	if (!object || !object->is_live)
		object = add_self(address);
	if (!object)
		return false;
	object->has_priority = true;
	object->priority = priority > PRIORITY_MAX ? PRIORITY_MAX : priority;
	self->priority = priority_word(object->priority, threshold > PRIORITY_MAX ? PRIORITY_MAX : threshold);
	self->handle = object->handle;
	px_tx_registry_add(object);
	return true;
}

/* The thread ends.  An object that the program has registered itself is left to the program. */
static void end_thread(void *argument)
{
	struct px_tx_thread *self = argument;
	struct px_tx_object *object;
	uint32_t before;

	if (!px_tx_lock_enter(self, &before))
		return;
	object = px_tx_objects_get(own_address());
	if (object && object->is_live) {
		px_tx_registry_release(object->handle);
		px_tx_objects_remove(object);
	}
	px_tx_buffer_leave(self, before);
	self->handle = 0;
}

static __thread uint32_t state_before_fork __attribute__((tls_model("initial-exec")));

/* If a handler forks inside a service of its thread, both processes end that service, each with its own data. */
static void before_fork(void)
{
	if (!px_tx_lock_enter(&px_tx_self, &state_before_fork))
		state_before_fork = PX_TX_INSIDE;
}

static void after_fork_in_parent(void)
{
	if (state_before_fork != PX_TX_INSIDE)
		px_tx_buffer_leave(&px_tx_self, state_before_fork);
}

/* The memory may be shared with the parent, which goes on: the child does not write to it. */
static void after_fork_in_child(void)
{
	px_tx_lock.nr_sleepers = 0;
	if (state_before_fork == PX_TX_INSIDE) {
		px_tx_self.wants_disable = 1;
		return;
	}
	px_tx_buffer_end();
	px_tx_buffer_leave(&px_tx_self, state_before_fork);
}

__attribute__((constructor)) static void begin(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
