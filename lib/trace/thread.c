/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/decimal.h"
#include "base/program.h"
#include "ring/cpuring.h"
#include "trace/frames.h"
#include "trace/process.h"

#define PRIORITY_NORMAL 120 /* priority of a thread with normal policy and nice value 0 */

__thread struct px_thread px_thread PX_TLS; /* PX_TLS again: the declaration alone does not set the TLS model */

/* Return the priority on the scale of the kernel: 0 ... 98 for real-time threads, 100 ... 139 for nice values. */
static uint32_t priority_of_thread(void)
{
	struct sched_param parameter = {0};
	long policy = syscall(SYS_sched_getscheduler, 0);

	if ((policy == SCHED_FIFO || policy == SCHED_RR) &&
	    syscall(SYS_sched_getparam, 0, &parameter) == 0)
		return (uint32_t)(99 - parameter.sched_priority);
	/* The system call returns 20 - nice, which is never negative. */
	return (uint32_t)(140 - syscall(SYS_getpriority, PRIO_PROCESS, 0));
}

static void name_thread(struct px_object *object)
{
	char *end;

	if (prctl(PR_GET_NAME, object->name) != 0)
		object->name[0] = '\0';
	end = object->name + strnlen(object->name, 16);
	*end++ = ' ';
	*px_decimal_put(end, object->tid) = '\0';
}

/*
 * Return true in a child of vfork.  The child uses the thread-local storage of the parent's thread,
 * which waits for the child.
 */
static bool in_vfork_child(const struct px_self *self)
{
	return (uint32_t)syscall(SYS_getpid) != px_read_once(&self->pid);
}

static bool is_of_process(const struct px_self *self, uint32_t tid)
{
	return tid != 0 && syscall(SYS_tgkill, (pid_t)px_read_once(&self->pid), tid, 0) == 0;
}

/*
 * Return true if px_thread has the tid of a child of vfork.  The child writes its own tid into the storage of the
 * parent's thread if that thread was not registered.  The parent's thread must then register again.  Otherwise its
 * claims would have the tid of the child, and would count as claims of a dead thread after the child's exit.
 */
static bool has_tid_of_vfork_child(const struct px_self *self)
{
	return in_vfork_child(self) && px_thread.tid == (uint32_t)syscall(SYS_gettid);
}

static uint32_t first_handle; /* 0: this program has none yet */

static uint32_t handle_of(uint64_t serial)
{
	return px_txtb_handle(PX_TXTB_THREAD, 1 + (uint32_t)(serial % 0xFFFFFD));
}

uint32_t px_thread_first_handle(struct px_registry *registry)
{
	if (px_read_once(&first_handle) == 0)
		px_compare_exchange(&first_handle, 0, handle_of(px_load_acquire(&registry->gate.threads)));
	return px_read_once(&first_handle);
}

uint32_t px_thread_renew_first_handle(struct px_registry *registry)
{
	px_write_once(&first_handle, 0);
	return px_thread_first_handle(registry);
}

static uint32_t next_handle(struct px_registry *registry)
{
	px_thread_first_handle(registry);
	return handle_of(px_fetch_add(&registry->gate.threads, UINT64_C(1)));
}

uint32_t px_thread_reserve_handle(void)
{
	struct px_registry *registry = px_registry_get();

	return registry ? next_handle(registry) : 0;
}

/*
 * Set the identity of the calling thread, unless px_thread already has it.  Compare the tid, because the thread of a
 * child made by fork() has a copy of the storage of the parent's thread.
 */
static void identify_thread(const struct px_self *self, struct px_registry *registry)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	if (px_thread.tid == tid || (in_vfork_child(self) && is_of_process(self, px_thread.tid)))
		return;
	px_thread.handle = px_thread.given ? px_thread.given : next_handle(registry);
	px_thread.given = 0; /* the thread of a forked child gets another handle */
	px_thread.id = (uint64_t)(uintptr_t)pthread_self();
	px_thread.tid = tid;
	px_frames_note_stack(tid == px_read_once(&self->pid));
}

static void register_thread(struct px_self *self, struct px_registry *registry)
{
	uint64_t epoch = px_load_acquire(&self->epoch);
	struct px_object object = {.type = PX_TXTB_THREAD, .pid = self->pid};

	identify_thread(self, registry);
	object.priority = priority_of_thread();
	object.handle = px_thread.handle;
	object.tid = px_thread.tid;
	object.thread = px_thread.id;
	object.program = px_program_number();
	name_thread(&object);
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_view *view = px_load_acquire(&self->view[i]);
		struct px_object known;

		if (view && !px_threads_find(&view->segment->threads, object.handle, &known))
			px_view_add_thread(view, &object);
	}
	px_thread.priority = px_txtb_priority_word(object.priority);
	px_thread_doubt_area(); /* in a child, the kernel may not watch this area */
	px_thread.epoch = has_tid_of_vfork_child(self) ? 0 : epoch;
}

/*
 * Block signals.  Otherwise a signal handler might register the thread too, and streams would list
 * the thread twice.
 */
void px_thread_register(struct px_self *self, struct px_registry *registry)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (px_thread.epoch != px_load_acquire(&self->epoch))
		register_thread(self, registry);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The C library stores the tid of the owner in a mutex.  Return 0 if the C library is unknown. */
static uint32_t tid_of_owner(void)
{
#ifdef __GLIBC__
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint32_t tid;

	pthread_mutex_lock(&mutex);
	tid = (uint32_t)mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return tid;
#else
	return 0;
#endif
}

void px_thread_register_confined(const struct px_self *self, struct px_registry *registry)
{
	struct px_object object = {.type = PX_TXTB_THREAD, .pid = self->pid};

	if (px_thread.tid == 0) {
		px_thread.id = (uint64_t)(uintptr_t)pthread_self();
		px_thread.handle = px_thread.given ? px_thread.given : next_handle(registry);
		px_thread.given = 0;
		px_thread.priority = px_txtb_priority_word(PRIORITY_NORMAL);
		px_thread.tid = tid_of_owner();
		object.priority = PRIORITY_NORMAL;
		object.handle = px_thread.handle;
		object.tid = px_thread.tid;
		object.thread = px_thread.id;
		object.program = px_program_number();
		*px_decimal_put(object.name, object.tid) = '\0';
		for (uint32_t i = 0; px_thread.tid != 0 && i < PX_STREAMS_MAX; i++) {
			struct px_view *view = px_load_acquire(&self->view[i]);

			if (view)
				px_view_add_thread(view, &object);
		}
	}
	px_thread.epoch = px_thread.tid != 0 ? px_load_acquire(&self->epoch) : 0;
}

struct rseq *px_thread_find_area(void)
{
	px_thread.area = px_thread.is_shared || px_is_confined() ? NULL : px_cpu_area_ensure();
	return px_thread.area;
}

uint32_t px_thread_tid(void)
{
	if (px_unlikely(px_is_confined()))
		return px_thread.tid;
	return (uint32_t)syscall(SYS_gettid);
}
