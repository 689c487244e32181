/* SPDX-License-Identifier: MIT */
/* The streams that trace this process: attach to them, detach from them, and inherit them from the parent. */
#include <errno.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/membarrier.h"
#include "base/procfs.h"
#include "registry/inherit.h"
#include "registry/maps_file.h"
#include "trace/inside.h"
#include "trace/process_private.h"
#include "trace/types.h"
#include "trace/views.h"

/* A child made by fork finds the views of its parent in its copy of this structure (inherit.h). */
static struct px_inheritance inheritance;

bool px_process_parent_was_traced(void)
{
	bool was_traced = false;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		was_traced |= inheritance.view[i] != NULL;
	return was_traced;
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

	error = px_process_share_names(index, slot);
	if (error)
		return error;
	error = px_registry_attach(index, slot, px_process_id_is(&slot->target, &us), &mapping);
	if (error)
		return error;
	view = px_views_allocate();
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
	if (!px_process_id_is(&slot->controller, &us))
		px_maps_file_store(index, slot, us.pid, px_thread_first_handle(px_registry_get()));
	return 0;

free:
	px_views_free(view);
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
	px_views_retire(view);
}

bool px_process_traces_us(const struct px_self *self, uint32_t index, struct px_registry_slot *slot,
			  const struct px_process_id *us)
{
	return px_registry_read(index, slot) &&
	       ((px_process_id_is(&slot->target, us) &&
		 (!px_process_is_secure || px_process_id_is(&slot->controller, us))) ||
		px_read_once(&self->inherited[index]) == slot->generation);
}

/* Note this for the controller: otherwise the trace looks as if the process had done nothing. */
static void note_absent(uint32_t index, uint32_t generation, uint32_t pid, int error)
{
	if (error != ENOENT) /* it has just ended */
		px_registry_note_absent(index, generation, pid, error);
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
		bool wanted = px_process_traces_us(self, index, &slot, &us);
		int error;

		if (view ? wanted && view->generation == slot.generation : !wanted)
			return changed;
		if (view) {
			detach(self, index, view);
		} else {
			error = attach(self, index, &slot);
			if (error && !px_load_acquire(&self->view[index])) {
				note_absent(index, slot.generation, us.pid, error);
				return changed;
			}
		}
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
static void take_over(struct px_self *self, uint32_t index, const struct px_registry_slot *slot,
		      const struct px_view *parents)
{
	const struct px_process_id us = px_process_id();
	struct px_mapping mapping;
	struct px_view *view;

	if (px_shm_duplicate(&parents->mapping, &mapping) != 0)
		return; /* then follow_slot() attaches the stream by name */
	view = px_views_allocate();
	if (view && px_segment_view(&mapping, view)) {
		view->generation = parents->generation;
		px_inherit_add_member(view, &us);
		if (put_view(self, index, view)) {
			if (!px_maps_file_inherit(index, view->generation, inheritance.id.pid, us.pid))
				px_maps_file_store(index, slot, us.pid,
						   px_thread_renew_first_handle(px_registry_get()));
			return;
		}
	}
	if (view)
		px_views_free(view);
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
		take_over(self, index, slot, view);
	}
	px_compare_exchange(&inheritance.view[index], view, NULL);
	px_views_retire(view);
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
		if (is_inherited && !px_process_is_secure && px_inherit_belongs(&slot, i, &us))
			px_write_once(&self->inherited[i], slot.generation);
	}
	PX_TESTPOINT("process.born.known");
	if (is_child) /* _Fork() may have made it, without fork handlers */
		px_process_enter_shared_names();
	px_write_once(&inheritance.id.pid_namespace, us.pid_namespace);
	px_write_once(&inheritance.id.start, us.start);
	px_write_once(&inheritance.id.pid, us.pid);
	px_store_release(&self->knows_inherited, 1);
}

void px_process_identify_late(struct px_self *self)
{
	uint64_t start;

	if (px_likely(px_read_once(&self->start) != 0) || px_read_once(&self->pid_namespace) == 0)
		return;
	start = px_procfs_start(px_read_once(&self->pid));
	if (start == 0)
		return;
	px_write_once(&self->start, start);
	px_write_once(&inheritance.id.start, start);
	px_process_enter_shared_names();
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
		px_process_identify_late(self);
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
		px_process_identify(self);
	px_inside_end_doubt(frame);
	px_views_reclaim();
	call = px_inside_enter(px_frame_here());
	refresh(self, registry);
	px_inside_leave(call);
	px_views_reclaim();
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

void px_process_store_maps(void)
{
	const struct px_process_id us = px_process_id();
	const struct px_self *self = &px_gate.self;
	struct px_registry_slot slot;

	if (!px_registry_get() || px_load_acquire(&self->attached) == 0 || !px_maps_file_is_old())
		return;
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		if (px_load_acquire(&self->view[i]) && px_process_traces_us(self, i, &slot, &us) &&
		    !px_process_id_is(&slot.controller, &us))
			px_maps_file_store(i, &slot, us.pid, px_thread_first_handle(px_registry_get()));
}

__attribute__((destructor)) static void store_at_exit(void)
{
	px_process_store_maps();
}
