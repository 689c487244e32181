/* SPDX-License-Identifier: MIT */
/* The shared name table of this process, and its event types. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/kernel_time.h"
#include "base/procfs.h"
#include "registry/names_file.h"
#include "trace/inside.h"
#include "trace/process_private.h"
#include "trace/types.h"

/* The process makes the table while it holds a lock, but a signal handler or a child may need it at once. */
#define COMPLETE_ATTEMPTS 100
static const struct px_kernel_time complete_nap = {.nanoseconds = 1000000};

/*
 * Make this the shared name table of this process, in place of a private one.  If the process already has a shared one,
 * detach the new one.  Return false if the names of this process are not in the table.
 */
static bool move_to(struct px_shared_names_ref *ref)
{
	int error;

	px_shared_names_keep(ref); /* first, because another thread may fork at any time */
	error = px_types_move(ref);
	if (error)
		px_shared_names_detach(ref);
	else
		px_process_enter_shared_names();
	return error == 0 || error == EEXIST;
}

/*
 * Move to the shared table with this number.  A controller may still be filling it.  Return false if it does not
 * exist.
 */
static bool follow(uint32_t number)
{
	struct px_shared_names_ref ref;
	int error = EAGAIN;

	for (int i = 0; i < COMPLETE_ATTEMPTS && error == EAGAIN; i++) {
		error = px_shared_names_attach(number, geteuid(), &ref);
		if (error == EAGAIN)
			px_kernel_sleep(&complete_nap);
	}
	return error == 0 && move_to(&ref);
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

		if (!px_process_traces_us(&px_gate.self, i, &slot, &us) || slot.shared_names == 0 ||
		    px_shared_names_is_private(slot.shared_names))
			continue;
		*number = slot.shared_names;
		return true;
	}
	return false;
}

/*
 * Move to a shared table: to that of a stream that traces this process, even if its controller did not find the names
 * of the private table; otherwise to a new one with these names.
 */
static bool make_shared(void)
{
	struct px_shared_names_ref ref;
	uint32_t number;
	struct px_shared_names *names = px_types_shared_names(&number);
	int error = EAGAIN;

	if (!px_shared_names_is_private(number) || (find_shared_names(&number) && follow(number)))
		return true;
	for (int i = 0; i < COMPLETE_ATTEMPTS && error == EAGAIN; i++) {
		error = px_names_file_move_own(names, &ref);
		if (error == EAGAIN)
			px_kernel_sleep(&complete_nap);
	}
	if (error)
		return false;
	PX_TESTPOINT("process.shared_names.made");
	/* A controller that looked for the table before it was there has made one for its stream. */
	if (find_shared_names(&number) && number != ref.number && follow(number)) {
		px_shared_names_detach(&ref);
		return true;
	}
	return move_to(&ref);
}

/*
 * A private table is of no use for other processes: use the one that has replaced it, or make a shared one.  Return
 * true if the private one stays: the shared table may have ended with its last process.
 */
static bool stays_private(uint32_t moved_to)
{
	return moved_to != 0 ? !follow(moved_to) : px_shared_names_are_scarce() || !make_shared();
}

void px_process_enter_shared_names(void)
{
	const struct px_process_id us = px_process_id();
	int saved_errno = errno, error;
	uint32_t moved_to;

	error = px_types_enter(px_procfs_word(us.pid, us.start), px_process_incarnation(), &moved_to);
	/* To follow, or to make a shared table, enters this process there. */
	if ((moved_to == 0 || !follow(moved_to)) && error)
		stays_private(0);
	errno = saved_errno;
}

/*
 * Make this the shared name table of this process.  If the process already has one, detach the new
 * one.
 */
static void use_shared_names(struct px_shared_names_ref *ref)
{
	px_shared_names_keep(ref); /* first, because another thread may fork at any time */
	if (px_types_use(ref))
		px_process_enter_shared_names();
	else
		px_shared_names_detach(ref);
}

static bool is_still_there(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_slot now;

	return px_registry_read(index, &now) && now.generation == slot->generation;
}

int px_process_share_names(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_shared_names_ref ref;
	uint32_t own;
	int error;

	/* This process has made the stream for itself.  It may have moved to a shared table meanwhile. */
	if (px_types_is_own_private(slot->shared_names))
		return 0;
	if ((!px_types_shared_names(&own) || px_shared_names_is_private(own)) &&
	    slot->shared_names != 0) {
		PX_TESTPOINT("process.shared_names.found");
		error = px_shared_names_attach(slot->shared_names, geteuid(), &ref);
		if (error)
			return error;
		PX_TESTPOINT("process.shared_names.attached");
		if (!is_still_there(index, slot)) {
			px_shared_names_detach(&ref);
			return ENOENT;
		}
		if (!px_types_shared_names(&own))
			use_shared_names(&ref);
		else if (!move_to(&ref))
			return EACCES;
	}
	return px_types_shared_names(&own) && own == slot->shared_names ? 0 : EACCES;
}

/* Make a private table, with a file if a controller may look for it. */
static int make_private(struct px_shared_names_ref *ref)
{
	int error = px_shared_names_make_private(ref);

	if (error || !px_registry_get() || px_names_file_make(ref->shared_names) == 0)
		return error;
	/* Without a file, controllers find only a shared table. */
	if (!px_shared_names_are_scarce()) {
		px_shared_names_detach(ref);
		if (px_shared_names_make(geteuid(), ref) != 0)
			return px_shared_names_make_private(ref);
	}
	return 0;
}

int px_process_choose_shared_names(bool is_shared, uint32_t *number)
{
	const struct px_shared_names *names;
	struct px_shared_names_ref ref;
	int error = 0;

	px_process_refresh(px_frame_here()); /* it may attach to a stream, and so find the table */
	names = px_types_shared_names(number);
	if (names) {
		/* A private table that is older than the registry has no file, so controllers do not find it. */
		if (is_shared || (names->key == 0 && !px_shared_names_are_scarce()))
			make_shared(); /* without it, only this process and children by fork() are traced */
		px_types_shared_names(number);
		return 0;
	}
	if (!px_registry_get() || !find_shared_names(number) ||
	    px_shared_names_attach(*number, geteuid(), &ref) != 0) {
		if (!is_shared || px_shared_names_make(geteuid(), &ref) != 0)
			error = make_private(&ref);
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
	uint32_t first, moved_to;
	bool stays = false;
	int error;

	error = need_shared_names();
	if (error)
		return error;
	px_process_ensure();
	us = px_process_id();
	while ((error = px_types_open(name, px_procfs_word(us.pid, us.start), stays, id, &first,
				      &moved_to)) == ESTALE)
		stays = stays_private(moved_to);
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

/* As in px_process_open_type(), look for new streams after the description is in the shared name table. */
int px_process_describe_type(unsigned int id, const char *text, size_t length)
{
	int saved_errno = errno;
	struct px_running call;
	bool stays = false;
	uint32_t moved_to;
	int error;

	px_process_ensure();
	while ((error = px_types_describe(id, text, length, stays, &moved_to)) == ESTALE)
		stays = stays_private(moved_to);
	px_process_ensure();
	call = px_inside_enter(px_frame_here());
	for (uint32_t i = 0; !error && i < PX_STREAMS_MAX; i++) {
		struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		if (view)
			px_types_add_description(view, id);
	}
	px_inside_leave(call);
	errno = saved_errno;
	return error;
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

__attribute__((destructor)) static void leave(void)
{
	const struct px_process_id us = px_process_id();

	px_types_leave(px_procfs_word(us.pid, us.start));
}
