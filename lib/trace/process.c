/* SPDX-License-Identifier: MIT */
#include "trace/process.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/membarrier.h"
#include "base/procfs.h"
#include "base/sysv.h"
#include "ring/growth.h"
#include "trace/inside.h"
#include "trace/process_private.h"
#include "trace/types.h"
#include "trace/views.h"

#ifdef PX_GATE_AT_FIRST
struct px_gate px_gate = {.self = {.quiet = PX_GATE_AT_FIRST}};
#else
struct px_gate px_gate;
#endif
_Static_assert(sizeof(struct px_gate) == 2 * PX_GATE_BLOCK, "two pages, the words side by side");
_Static_assert(offsetof(struct px_gate, self.quiet) ==
		       offsetof(struct px_gate, shared.generation) + sizeof(uint32_t),
	       "the words of the gate are neighbours");

uint32_t px_confined;

void px_process_identify(struct px_self *self)
{
	uint32_t pid = px_read_once(&self->forked_pid);

	if (pid == 0)
		pid = (uint32_t)syscall(SYS_getpid);
	px_write_once(&self->start, px_procfs_start(pid));
	px_write_once(&self->pid_namespace, px_procfs_pid_namespace());
	px_store_release(&self->pid, pid);
}

struct px_process_id px_process_id(void)
{
	struct px_self *self = &px_gate.self;

	if (px_load_acquire(&self->pid) == 0)
		px_process_identify(self);
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

bool px_process_is_secure;

/*
 * Return true if the program has rights of a group, or capabilities, but runs as the user of its invoker.  The invoker
 * owns the shared files of this user, so the program maps them only if it creates a stream or opens a log itself.
 */
static bool has_files_of_invoker(void)
{
	return px_process_is_secure && getuid() == geteuid();
}

void px_process_finish_growth(void)
{
	struct px_running call = px_inside_enter(px_frame_here());

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		if (view && view->grows == PX_GROWS_ALONE)
			px_growth_finish(view);
	}
	px_inside_leave(call);
}

/* Map the registry's first page and a private page over px_gate. */
static int map_gate(int fd)
{
	void *own = &px_gate.self;

	/*
	 * Without MADV_WIPEONFORK (Linux before 4.14) a child would keep the identity of its
	 * parent: return an error.
	 */
	if (mmap(own, PX_GATE_BLOCK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    madvise(own, PX_GATE_BLOCK, MADV_WIPEONFORK) != 0)
		return errno;
	if (mmap(&px_gate.shared, PX_GATE_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		return errno;
	px_write_once(&px_gate.self.has_fork_handlers, 1);
	return 0;
}

/* Protects initialisation.  Take this mutex before the lock of the registry. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Find the streams and types that this process has now, because the child inherits them (FORK-7). */
static void before_fork(void)
{
	if (!px_registry_get() || px_is_confined())
		return;
	if (px_gate_is_open())
		px_process_refresh(px_frame_here());
	px_process_take_granted();
}

/*
 * The kernel has filled the page with zeros.  An emulator of system calls may accept the advice and do nothing: then
 * the child would be its parent.
 */
static void forget_parent(void)
{
	uint32_t known = px_read_once(&px_gate.self.pid);

	if (px_unlikely(known != 0 && known != (uint32_t)syscall(SYS_getpid)))
		memset(&px_gate.self, 0, sizeof(px_gate.self));
}

/*
 * Make the child's own views now.  They need the copy of the parent's memory, and exec would remove that copy.
 */
static void after_fork(void)
{
	uint32_t number;

	pthread_mutex_init(&mutex, NULL);
	if (px_is_confined())
		return;
	if (px_registry_get()) { /* otherwise px_gate is not mapped */
		forget_parent();
		px_write_once(&px_gate.self.forked_pid, (uint32_t)syscall(SYS_getpid));
	}
	px_inside_after_fork();
	px_views_after_fork();
	if (px_process_parent_was_traced())
		px_process_refresh(px_frame_here());
	if (px_types_shared_names(&number))
		px_process_enter_shared_names();
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
	if (!error && px_load_acquire(&px_gate.self.knows_inherited))
		px_process_identify_late(&px_gate.self); /* the streams of this process need its start time */
	pthread_mutex_unlock(&mutex);
	return error;
}

/*
 * The program that ran before an exec may have been a controller.  Its streams ended with it, so
 * remove them (EXEC-4).
 */
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

/* Ignore errors, because a program that is not traced must not notice the library. */
__attribute__((constructor(101))) static void begin(void)
{
	int saved_errno = errno;

	pthread_atfork(before_fork, NULL, after_fork); /* first, because the rest may fail */
	px_sysv_init();
	px_membarrier_register();
	px_process_is_secure = getauxval(AT_SECURE) != 0;
	if (!has_files_of_invoker() && px_process_init() == 0) {
		forget_former_image();
		px_process_refresh(px_frame_here());
		px_types_forget(px_procfs_word(px_gate.self.pid, px_gate.self.start));
	} else {
		px_write_once(&px_gate.self.quiet, px_read_once(&px_gate.shared.generation));
	}
	errno = saved_errno;
}
