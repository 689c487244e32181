/* SPDX-License-Identifier: MIT */
#include "trace/process.h"

#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/membarrier.h"
#include "base/procfs.h"
#include "base/sysv.h"
#include "registry/inherit.h"
#include "ring/growth.h"
#include "trace/inside.h"
#include "trace/types.h"

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

/*
 * Several threads, and a child of vfork, may run this function at the same time.  They all write
 * the same values.
 */
static void identify(struct px_self *self)
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

/* A child made by fork finds the views of its parent in its copy of this structure (inherit.h). */
static struct px_inheritance inheritance;

/*
 * True if the program got rights from its file (AT_SECURE) that its invoker may not have.  The kernel lets only root
 * trace such a program with ptrace(2).  So the program attaches only streams that it creates itself, and its children
 * made by fork() attach only streams of their parent.
 */
static bool is_secure;

/*
 * Return true if the program has rights of a group, or capabilities, but runs as the user of its invoker.  The invoker
 * owns the shared files of this user, so the program maps them only if it creates a stream or opens a log itself.
 */
static bool has_files_of_invoker(void)
{
	return is_secure && getuid() == geteuid();
}

/* Insert a view.  Return false if another thread or a signal handler has already inserted one. */
static bool put_view(struct px_self *self, uint32_t index, struct px_view *view)
{
	/*
	 * A thread that stops a stream makes a barrier with membarrier(2).  This process may write
	 * to the rings of CPUs only if that barrier includes its threads (C5 in cpuring.h).
	 */
	if (view->rings.nr_rings > view->rings.nr_shared && px_membarrier_register())
		view->nr_own = view->rings.nr_rings - view->rings.nr_shared;
	px_fetch_or(&self->attached, UINT64_C(1) << index); /* P3 */
	if (!px_compare_exchange(&self->view[index], NULL, view))
		return false;
	(void)px_exchange(&inheritance.view[index], view);
	/*
	 * If another thread has already detached the view, remove it from `inheritance`, because the view will be
	 * freed.
	 */
	if (px_load_ordered(&self->view[index]) != view)
		px_compare_exchange(&inheritance.view[index], view, NULL);
	PX_TESTPOINT("process.attach.swapped");
	px_exchange(&self->quiet, 0); /* P4 */
	return true;
}

/*
 * Enter this process in its shared name table, so that other processes know that it uses the table
 * (shared_names.h).
 */
static void enter_shared_names(void)
{
	const struct px_process_id us = px_process_id();

	px_types_enter(px_procfs_word(us.pid, us.start), px_process_incarnation());
}

/*
 * Make this the shared name table of this process.  If the process already has one, detach the new
 * one.
 */
static void use_shared_names(struct px_shared_names_ref *ref)
{
	px_shared_names_keep(ref); /* first, because another thread may fork at any time */
	if (px_types_use(ref))
		enter_shared_names();
	else
		px_shared_names_detach(ref);
}

static bool is_still_there(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_slot now;

	return px_registry_read(index, &now) && now.generation == slot->generation;
}

/*
 * An event id must have the same meaning in the stream and in this process.  So both must use the
 * same shared name table.  If this process has none yet, it attaches the stream's table.
 *
 * This function does not take the registry's lock.  At the same time, a controller may create
 * another stream for this process, and it must choose the same table.  The controller looks first
 * for existing streams of this process, and then for a table that this process has attached.  This
 * process works in the other order: it attaches the table, and then checks that the stream still
 * exists.  If the stream is gone, the controller may have found neither the stream nor the table,
 * and may have chosen another table.  Then this process gives the table up.
 */
static int share_names(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_shared_names_ref ref;
	uint32_t own;
	int error;

	if (!px_types_shared_names(&own) && slot->shared_names != 0) {
		PX_TESTPOINT("process.family.found");
		error = px_shared_names_attach(slot->shared_names, geteuid(), &ref);
		if (error)
			return error;
		PX_TESTPOINT("process.family.attached");
		if (!is_still_there(index, slot)) {
			px_shared_names_detach(&ref);
			return ENOENT;
		}
		use_shared_names(&ref);
	}
	return px_types_shared_names(&own) && own == slot->shared_names ? 0 : EACCES;
}

/*
 * Attach to the stream in this slot.  Return 0 or an error number.  Also return 0 if another thread
 * has just attached to a stream in this slot: the caller then checks the view again.
 */
static int attach(struct px_self *self, uint32_t index, const struct px_registry_slot *slot)
{
	const struct px_process_id us = px_process_id();
	struct px_mapping mapping;
	struct px_view *view;
	uint32_t nr_named;
	int error;

	error = share_names(index, slot);
	if (error)
		return error;
	error = px_registry_attach(index, slot, px_process_id_is(&slot->target, &us), &mapping);
	if (error)
		return error;
	view = px_inside_allocate();
	if (!view) {
		error = ENOMEM;
		goto unmap;
	}
	if (!px_segment_view(&mapping, view)) {
		error = EACCES;
		goto free;
	}
	view->generation = slot->generation;
	nr_named = px_types_add_from(view, 0);
	if (!px_process_id_is(&slot->target, &us))
		px_inherit_add_member(view, &us);
	PX_TESTPOINT("process.attach.mapped");
	if (!put_view(self, index, view))
		goto free;
	/*
	 * A thread that opened a type just before put_view() did not find this view.  Add such
	 * types.
	 */
	px_types_add_from(view, nr_named);
	return 0;

free:
	px_inside_free(view);
unmap:
	px_shm_unmap(&mapping);
	return error;
}

static void detach(struct px_self *self, uint32_t index, struct px_view *view)
{
	if (!px_compare_exchange(&self->view[index], view, NULL))
		return; /* another thread was first, and completes this */
	px_compare_exchange(&inheritance.view[index], view, NULL);
	PX_TESTPOINT("process.detach.taken");
	px_inside_retire(view);
}

/* Read the slot.  Return true if its stream traces this process. */
static bool traces_us(const struct px_self *self, uint32_t index, struct px_registry_slot *slot,
		      const struct px_process_id *us)
{
	return px_registry_read(index, slot) &&
	       ((px_process_id_is(&slot->target, us) &&
		 (!is_secure || px_process_id_is(&slot->controller, us))) ||
		px_read_once(&self->inherited[index]) == slot->generation);
}

/*
 * Attach to the stream in a slot, or detach from it, until the view agrees with the slot.  Return
 * true if anything changed.  This is lock-free: the loop repeats only if the slot or the view has
 * just changed.
 */
static bool follow_slot(struct px_self *self, uint32_t index)
{
	const struct px_process_id us = px_process_id();
	bool changed = false;

	for (;;) {
		/* Load the view before the slot (P1). */
		struct px_view *view = px_load_acquire(&self->view[index]);
		struct px_registry_slot slot;
		bool wanted = traces_us(self, index, &slot, &us);

		if (view ? wanted && view->generation == slot.generation : !wanted)
			return changed;
		if (view)
			detach(self, index, view);
		else if (attach(self, index, &slot) != 0 && !px_load_acquire(&self->view[index]))
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

/* Open the gate if there is a view.  Otherwise shut it for this generation of the registry (P4). */
static void set_gate(struct px_self *self, uint32_t generation)
{
	bool open = has_views(self);

	PX_TESTPOINT("process.gate.decided");
	px_exchange(&self->quiet, open ? 0 : generation);
	if (!open && has_views(self))
		px_exchange(&self->quiet, 0);
}

/* Make all views agree with the registry.  Return true if anything changed. */
static bool follow_registry(struct px_self *self)
{
	bool changed = false;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		changed |= follow_slot(self, i);
	return changed;
}

/*
 * In a child, map the memory of one of the parent's views a second time.  Make a view of this
 * process for the new mapping.
 */
static void take_over(struct px_self *self, uint32_t index, const struct px_view *parents)
{
	const struct px_process_id us = px_process_id();
	struct px_mapping mapping;
	struct px_view *view;

	if (px_shm_duplicate(&parents->mapping, &mapping) != 0)
		return; /* then follow_slot() attaches the stream by name */
	view = px_inside_allocate();
	if (view && px_segment_view(&mapping, view)) {
		view->generation = parents->generation;
		px_inherit_add_member(view, &us);
		if (put_view(self, index, view))
			return;
	}
	if (view)
		px_inside_free(view);
	px_shm_unmap(&mapping);
}

/*
 * In a child made by fork, take over the parent's view of the stream in this slot, if the child
 * inherits the stream.  Return false if the parent was not attached to the stream.
 *
 * The parent may have been attached only to a former stream of the slot, if no fork handler ran.
 * If another thread of the child was first, the view in `inheritance` may already be a view of the
 * child.
 */
static bool inherit(struct px_self *self, uint32_t index, const struct px_registry_slot *slot,
		    bool is_inherited)
{
	struct px_view *view = px_load_acquire(&inheritance.view[index]);
	bool is_current;

	if (!view || view == px_load_acquire(&self->view[index]))
		return view != NULL;
	is_current = view->generation == slot->generation;
	if (is_inherited && is_current) {
		px_write_once(&self->inherited[index], slot->generation);
		take_over(self, index, view);
	}
	px_compare_exchange(&inheritance.view[index], view, NULL);
	px_inside_retire(view);
	return is_current;
}

/*
 * Find out which streams this process has inherited.  Several threads and signal handlers may do
 * this at the same time.  They all get the same result.
 */
static void find_inherited(struct px_self *self)
{
	const struct px_process_id us = px_process_id();
	const struct px_process_id former = inheritance.id;
	bool is_child = former.pid != 0;
	/* Without /proc, as in a chroot, assume that a child is in the pid namespace of its parent. */
	bool is_lost = is_child && us.pid_namespace == 0;

	for (uint32_t i = 0; i < PX_STREAMS_MAX && !px_process_id_is(&former, &us); i++) {
		struct px_registry_slot slot;
		bool is_inherited = px_registry_read(i, &slot) && slot.is_inherited &&
				    !px_process_id_is(&slot.target, &us) &&
				    (us.pid_namespace == slot.target.pid_namespace || is_lost);

		if (is_child && inherit(self, i, &slot, is_inherited))
			continue;
		if (is_inherited && !is_secure && px_inherit_belongs(&slot, i, &us))
			px_write_once(&self->inherited[i], slot.generation);
	}
	PX_TESTPOINT("process.born.known");
	if (is_child) /* _Fork() may have made it, without fork handlers */
		enter_shared_names();
	px_write_once(&inheritance.id.pid_namespace, us.pid_namespace);
	px_write_once(&inheritance.id.start, us.start);
	px_write_once(&inheritance.id.pid, us.pid);
	px_store_release(&self->knows_inherited, 1);
}

/*
 * A process that had no free descriptor at its start could not read its start time from /proc.
 * Without the start time other processes do not find this process, so read it as soon as possible.
 * Without /proc there is neither a start time nor a pid namespace: then do nothing.
 */
static void identify_late(struct px_self *self)
{
	uint64_t start;

	if (px_likely(px_read_once(&self->start) != 0) || px_read_once(&self->pid_namespace) == 0)
		return;
	start = px_procfs_start(px_read_once(&self->pid));
	if (start == 0)
		return;
	px_write_once(&self->start, start);
	px_write_once(&inheritance.id.start, start);
	enter_shared_names();
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_process_id us = px_process_id();
		const struct px_view *view = px_load_acquire(&self->view[i]);

		if (view && px_read_once(&self->inherited[i]) == view->generation)
			px_inherit_add_member(view, &us);
	}
}

static void refresh(struct px_self *self, struct px_registry *registry)
{
	/* EDGE attach acquire: the slots that are read below are at least as new as this generation */
	uint32_t generation = px_load_acquire(&px_gate.shared.generation);

	if (px_load_acquire(&self->knows_inherited) == 0)
		find_inherited(self);
	if (generation != px_load_acquire(&self->generation) || px_read_once(&self->epoch) == 0) {
		identify_late(self);
		if (follow_registry(self) || px_read_once(&self->epoch) == 0)
			px_store_release(&self->epoch,
					 px_fetch_add(&registry->gate.epochs, UINT64_C(1)) + 1);
		PX_TESTPOINT("process.refresh.followed");
		/*
		 * Keep this order.  A preempted thread may open the gate late, without a view.  It
		 * then stores its old generation here, so the next event checks again and shuts the
		 * gate.
		 */
		set_gate(self, generation);
		px_store_release(&self->generation, generation); /* P2 */
	}
	if (px_load_acquire(&self->attached) && px_thread.epoch != px_read_once(&self->epoch))
		px_thread_register(self, registry);
}

/* Reclaim memory before, because a new stream needs memory.  Reclaim again after, because streams may have ended. */
void px_process_refresh(uintptr_t frame)
{
	struct px_registry *registry = px_registry_get();
	struct px_self *self = &px_gate.self;
	int saved_errno = errno;
	struct px_running call;

	if (!registry)
		return;
	if (px_unlikely(px_is_confined())) {
		call = px_inside_enter(px_frame_here());
		if (px_load_acquire(&self->attached))
			px_thread_register_confined(self, registry);
		px_inside_leave(call);
		return;
	}
	if (px_load_acquire(&self->pid) == 0)
		identify(self);
	px_inside_end_doubt(frame);
	px_inside_reclaim();
	call = px_inside_enter(px_frame_here());
	refresh(self, registry);
	px_inside_leave(call);
	px_inside_reclaim();
	errno = saved_errno;
}

int px_process_join(uint32_t index, uint32_t generation)
{
	struct px_self *self = &px_gate.self;

	/*
	 * Try twice: another thread may have stored the generation although it failed to attach.
	 */
	for (int attempt = 0; attempt < 2; attempt++) {
		const struct px_view *view;
		struct px_running call;
		bool has_joined;

		px_process_refresh(px_frame_here());
		call = px_inside_enter(px_frame_here());
		view = px_load_acquire(&self->view[index]);
		has_joined = view && view->generation == generation;
		px_inside_leave(call);
		if (has_joined)
			return 0;
		px_write_once(&self->generation, 0);
	}
	return ENOMEM;
}

void px_process_finish_growth(void)
{
	struct px_running call = px_inside_enter(px_frame_here());

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		if (view)
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

void px_process_take_granted(void)
{
	const struct px_process_id us = px_process_id();
	uint64_t word = px_procfs_word(us.pid, us.start);
	struct px_running call = px_inside_enter(px_frame_here());
	unsigned int id;

	while ((id = px_types_find_granted(word)) != PX_EVENT_NONE) {
		for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
			struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

			if (view)
				px_types_add(view, id);
		}
		px_types_accept(id); /* last, so that a signal handler finds the type registered */
	}
	px_inside_leave(call);
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
 * Make the child's own views now.  They need the copy of the parent's memory, and exec would remove that copy.
 */
static void after_fork(void)
{
	bool was_traced = false;
	uint32_t number;

	pthread_mutex_init(&mutex, NULL);
	if (px_is_confined())
		return;
	if (px_registry_get()) /* otherwise px_gate is not mapped */
		px_write_once(&px_gate.self.forked_pid, (uint32_t)syscall(SYS_getpid));
	px_inside_after_fork();
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		was_traced |= inheritance.view[i] != NULL;
	if (was_traced)
		px_process_refresh(px_frame_here());
	if (px_types_shared_names(&number))
		enter_shared_names();
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
		identify_late(&px_gate.self); /* the streams of this process need its start time */
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
	is_secure = getauxval(AT_SECURE) != 0;
	if (!has_files_of_invoker() && px_process_init() == 0) {
		forget_former_image();
		px_process_refresh(px_frame_here());
		px_types_forget(px_procfs_word(px_gate.self.pid, px_gate.self.start));
	} else {
		px_write_once(&px_gate.self.quiet, px_read_once(&px_gate.shared.generation));
	}
	errno = saved_errno;
}

/*
 * Find a stream that traces this process, attached or not, and return the number of its shared name
 * table.  This process must use that table.
 */
static bool find_shared_names(uint32_t *number)
{
	const struct px_process_id us = px_process_id();

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_registry_slot slot;

		if (!traces_us(&px_gate.self, i, &slot, &us) || slot.shared_names == 0)
			continue;
		*number = slot.shared_names;
		return true;
	}
	return false;
}

int px_process_choose_shared_names(bool is_shared, uint32_t *number)
{
	struct px_shared_names_ref ref;
	int error = ENOMEM;

	px_process_refresh(px_frame_here()); /* it may attach to a stream, and so find the table */
	if (px_types_shared_names(number))
		return 0;
	if (!px_registry_get() || !find_shared_names(number) ||
	    px_shared_names_attach(*number, geteuid(), &ref) != 0) {
		if (is_shared || !px_shared_names_are_scarce())
			error = px_shared_names_make(geteuid(), &ref);
		if (error)
			error = px_shared_names_make_private(&ref);
		if (error)
			return error;
	}
	use_shared_names(&ref);
	px_types_shared_names(number);
	return 0;
}

/*
 * Make sure that this process has a shared name table.  Without a registry this needs no lock,
 * because then no other process searches for the table.  Continue also if the registry cannot be
 * locked.
 */
static int need_shared_names(void)
{
	int error, fd, locked, state;
	uint32_t number;

	if (px_types_shared_names(&number))
		return 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	locked = px_registry_get() ? px_registry_lock(&fd) : ENOENT;
	error = px_process_choose_shared_names(false, &number);
	if (!locked)
		px_registry_unlock(fd);
	pthread_setcancelstate(state, &state);
	return error;
}

int px_process_open_type(const char *name, unsigned int *id)
{
	int saved_errno = errno;
	struct px_process_id us;
	struct px_running call;
	uint32_t first;
	int error;

	error = need_shared_names();
	if (error)
		return error;
	px_process_ensure();
	us = px_process_id();
	error = px_types_open(name, px_procfs_word(us.pid, us.start), id, &first);
	/*
	 * At the same time a controller may create a stream.  The controller lists the opened types
	 * after that.  So look for new streams after the type is open.
	 */
	px_process_ensure();
	call = px_inside_enter(px_frame_here());
	for (uint32_t i = 0; !error && i < PX_STREAMS_MAX; i++) {
		struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		if (view)
			px_types_add_from(view, first);
	}
	px_inside_leave(call);
	errno = saved_errno;
	return error;
}
