/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "decimal.h"
#include "life.h"
#include "types.h"

#define VIEWS_IN_CHUNK 64

struct px_gate px_gate;
__thread struct px_thread px_thread;
_Static_assert(sizeof(struct px_gate) == 2 * PX_GATE_BLOCK, "two pages, the words side by side");
_Static_assert(offsetof(struct px_gate, self.quiet) ==
		       offsetof(struct px_gate, shared.generation) + sizeof(uint32_t),
	       "the words of the gate are neighbours");

/* Several threads may come here at once; they all write the same. */
static void identify(struct px_self *self)
{
	uint32_t pid = (uint32_t)syscall(SYS_getpid);

	px_write_once(&self->start, px_life_start(pid));
	px_write_once(&self->pid_namespace, px_life_pid_namespace());
	px_store_release(&self->pid, pid);
}

struct px_process_id px_process_id(void)
{
	struct px_self *self = &px_gate.self;

	if (px_load_acquire(&self->pid) == 0)
		identify(self);
	return (struct px_process_id){.pid = px_load_acquire(&self->pid),
				      .pid_namespace = px_read_once(&self->pid_namespace),
				      .start = px_read_once(&self->start)};
}

uint64_t px_process_find_incarnation(void)
{
	struct px_registry *registry = px_registry_get();
	uint64_t *incarnation = &px_gate.self.incarnation;

	if (registry && px_read_once(incarnation) == 0)
		px_compare_exchange(incarnation, UINT64_C(0),
				    px_fetch_add(&registry->gate.epochs, UINT64_C(1)) + 1);
	return px_read_once(incarnation);
}

/*
 * Views are never freed, so they come from chunks that only grow.  A handler may interrupt this
 * function and call it.
 */
struct view_chunk {
	uint32_t used;
	struct px_view view[VIEWS_IN_CHUNK];
};

static struct px_view *allocate_view(void)
{
	static struct view_chunk *current;
	struct view_chunk *chunk, *fresh;

	for (;;) {
		chunk = px_load_acquire(&current);
		if (chunk) {
			uint32_t i = px_fetch_add(&chunk->used, 1);

			if (i < VIEWS_IN_CHUNK)
				return &chunk->view[i];
		}
		fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fresh == MAP_FAILED)
			return NULL;
		if (!px_compare_exchange(&current, chunk, fresh))
			munmap(fresh, sizeof(*fresh));
	}
}

/* 0, also if somebody else was quicker: then look again.  Else why the stream cannot be had. */
static int attach(struct px_self *self, uint32_t index, uint32_t generation)
{
	char name[PX_SHM_NAME_MAX];
	struct px_mapping mapping;
	struct px_view *view;
	uint32_t nr_named;
	int error;

	px_registry_segment_name(index, generation, name);
	error = px_shm_attach(name, &mapping);
	if (error)
		return error;
	view = allocate_view();
	error = !view ? ENOMEM : !px_segment_view(&mapping, view) ? EACCES : 0;
	if (error)
		goto unmap;
	view->generation = generation;
	nr_named = px_types_add_from(view, 0);
	PX_TESTPOINT("process.attach.mapped");
	px_fetch_or(&self->attached, UINT64_C(1) << index); /* P3 */
	if (!px_compare_exchange(&self->view[index], NULL, view))
		goto unmap; /* another thread, or a handler, was quicker */
	PX_TESTPOINT("process.attach.swapped");
	px_exchange(&self->quiet, 0); /* P4 */
	/* Whoever opened a type meanwhile looked at the table of views before we were there. */
	px_types_add_from(view, nr_named);
	return 0;

unmap:
	px_shm_unmap(&mapping);
	return error;
}

static void detach(struct px_self *self, uint32_t index, struct px_view *view)
{
	if (!px_compare_exchange(&self->view[index], view, NULL))
		return; /* whoever was quicker does the rest */
	PX_TESTPOINT("process.detach.taken");
	PX_TESTPOINT("process.detach.hidden");
	px_shm_retire(&view->mapping);
}

/*
 * True if the stream in the slot traces us; which one is in *generation.  The slot may become
 * another's between the two: then the generation, which is written first, is another one.
 */
static bool traces_us(const struct px_registry_slot *slot, const struct px_process_id *us,
		      uint32_t *generation)
{
	bool answer;

	do {
		*generation = px_load_acquire(&slot->generation);
		answer = px_load_acquire(&slot->active) && px_process_id_is(&slot->target, us);
		PX_TESTPOINT("process.slot.judged");
		px_read_fence(); /* pairs with the fence in px_registry_publish() */
	} while (px_read_once(&slot->generation) != *generation);
	return answer;
}

/*
 * Make one view agree with its slot.  True if anything changed.  Each turn but the last is there
 * because the slot or the view has just changed: lock-free.
 */
static bool follow_slot(struct px_self *self, const struct px_registry *registry, uint32_t index)
{
	const struct px_process_id us = px_process_id();
	bool changed = false;

	for (;;) {
		/* The view before the slot (P1). */
		struct px_view *view = px_load_acquire(&self->view[index]);
		uint32_t generation;
		bool wanted = traces_us(&registry->slot[index], &us, &generation);

		if (view ? wanted && view->generation == generation : !wanted)
			return changed;
		if (view)
			detach(self, index, view);
		else if (attach(self, index, generation) != 0 &&
			 !px_load_acquire(&self->view[index]))
			return changed;
		changed = true;
	}
}

static bool has_views(const struct px_self *self)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		if (px_load_acquire(&self->view[i]))
			return true;
	return false;
}

/* With the registry as of this generation: the gate is open while there is a view (P4). */
static void set_gate(struct px_self *self, uint32_t generation)
{
	bool open = has_views(self);

	PX_TESTPOINT("process.gate.decided");
	px_exchange(&self->quiet, open ? 0 : generation);
	if (!open && has_views(self))
		px_exchange(&self->quiet, 0);
}

/* Make what is attached agree with the registry.  True if anything changed. */
static bool follow_registry(struct px_self *self, const struct px_registry *registry)
{
	bool changed = false;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		changed |= follow_slot(self, registry, i);
	return changed;
}

/* The kernel's own scale: 0 ... 98 for real-time threads, 100 ... 139 for nice values. */
static uint32_t priority_of_thread(void)
{
	struct sched_param parameter = {0};
	long policy = syscall(SYS_sched_getscheduler, 0);

	if ((policy == SCHED_FIFO || policy == SCHED_RR) &&
	    syscall(SYS_sched_getparam, 0, &parameter) == 0)
		return (uint32_t)(99 - parameter.sched_priority);
	/* The system call gives 20 - nice, so that it is never negative. */
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

/* A thread of a child has its parent's storage: the tid tells. */
static void identify_thread(struct px_registry *registry)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t serial;

	if (px_thread.tid == tid)
		return;
	serial = px_fetch_add(&registry->gate.threads, UINT64_C(1));
	px_thread.handle = px_txtb_handle(PX_TXTB_THREAD, 1 + (uint32_t)(serial % 0xFFFFFE));
	px_thread.id = (uint64_t)(uintptr_t)pthread_self();
	px_thread.tid = tid;
}

static void introduce_thread(struct px_self *self, struct px_registry *registry)
{
	uint64_t epoch = px_load_acquire(&self->epoch);
	struct px_object object = {.type = PX_TXTB_THREAD, .pid = self->pid};

	identify_thread(registry);
	object.priority = priority_of_thread();
	object.handle = px_thread.handle;
	object.tid = px_thread.tid;
	name_thread(&object);
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_view *view = px_load_acquire(&self->view[i]);
		struct px_object known;

		if (view && !px_objects_find(&view->segment->threads, object.handle, &known))
			px_view_add_object(view, &object);
	}
	px_thread.priority = px_txtb_priority_word(object.priority);
	px_thread.epoch = epoch;
}

/* A handler in between would introduce the thread too, and it would be listed twice. */
static void introduce_undisturbed(struct px_self *self, struct px_registry *registry)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (px_thread.epoch != px_load_acquire(&self->epoch))
		introduce_thread(self, registry);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void px_process_refresh(void)
{
	struct px_registry *registry = px_registry_get();
	struct px_self *self = &px_gate.self;
	uint32_t generation;
	int saved_errno = errno;

	if (!registry)
		return;
	/* EDGE attach acquire: slots are as they were when the generation was raised, or newer */
	generation = px_load_acquire(&px_gate.shared.generation);
	if (px_load_acquire(&self->pid) == 0)
		identify(self);
	if (generation != px_load_acquire(&self->generation) || px_read_once(&self->epoch) == 0) {
		if (follow_registry(self, registry) || px_read_once(&self->epoch) == 0)
			px_store_release(&self->epoch,
					 px_fetch_add(&registry->gate.epochs, UINT64_C(1)) + 1);
		PX_TESTPOINT("process.refresh.followed");
		/* In this order: a sleeper's late 0 in quiet goes with an old generation. */
		set_gate(self, generation);
		px_store_release(&self->generation, generation); /* P2 */
	}
	if (px_load_acquire(&self->attached) && px_thread.epoch != px_read_once(&self->epoch))
		introduce_undisturbed(self, registry);
	errno = saved_errno;
}

int px_process_join(uint32_t index, uint32_t generation)
{
	struct px_self *self = &px_gate.self;

	/* Another thread may have looked first, and failed where we do not: so once more. */
	for (int attempt = 0; attempt < 2; attempt++) {
		const struct px_view *view;

		px_process_refresh();
		view = px_load_acquire(&self->view[index]);
		if (view && view->generation == generation)
			return 0;
		px_write_once(&self->generation, 0);
	}
	return ENOMEM;
}

/* Put the registry's first page and a page of our own in the place of px_gate. */
static int map_gate(int fd)
{
	void *own = &px_gate.self;

	/* Without MADV_WIPEONFORK (Linux before 4.14) a child could not be told from its parent. */
	if (mmap(own, PX_GATE_BLOCK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    madvise(own, PX_GATE_BLOCK, MADV_WIPEONFORK) != 0)
		return errno;
	if (mmap(&px_gate.shared, PX_GATE_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		return errno;
	return 0;
}

/* Protects initialisation.  The registry's is taken under it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
}

static int init_locked(void)
{
	int error, fd;

	if (px_registry_get())
		return 0;
	error = px_shm_init();
	if (error)
		return error;
	error = px_registry_open(&fd);
	if (error)
		return error;
	error = map_gate(fd);
	if (!error)
		error = px_registry_map(fd);
	close(fd);
	return error;
}

int px_process_init(void)
{
	int error;

	pthread_mutex_lock(&mutex);
	PX_TESTPOINT("process.init.locked");
	error = init_locked();
	pthread_mutex_unlock(&mutex);
	return error;
}

/* The image before an exec may have been a controller; its streams end with it (EXEC-4). */
static void forget_former_image(void)
{
	struct px_process_id self = px_process_id();
	struct px_registry *registry = px_registry_get();
	bool found = false;
	int fd;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		found |= px_load_acquire(&registry->slot[i].active) &&
			 px_process_id_is(&registry->slot[i].controller, &self);
	if (found && px_registry_lock(&fd) == 0) {
		px_registry_forget(&self);
		px_registry_unlock(fd);
	}
}

/* Errors are silent here: a program that is not traced must not notice us. */
__attribute__((constructor(101))) static void begin(void)
{
	int saved_errno = errno;

	pthread_atfork(NULL, NULL, after_fork); /* also if all the rest fails */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	if (px_process_init() == 0) {
		forget_former_image();
		px_process_refresh();
	}
	errno = saved_errno;
}

int px_process_open_type(const char *name, unsigned int *id)
{
	bool is_new;
	int error = px_types_open(name, id, &is_new);

	for (uint32_t i = 0; !error && is_new && i < PX_STREAMS_MAX; i++) {
		struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		if (view)
			px_types_add(view, *id, name);
	}
	return error;
}
