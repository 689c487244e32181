/* SPDX-License-Identifier: MIT */
#include "calls/descriptors.h"

#define GENERATIONS_MAX 64 /* parents of parents; hostile records may make a circle */

static struct px_key process_key(uint32_t pid)
{
	return (struct px_key){.value = pid, .space = PX_SPACE_PROCESS};
}

static struct px_key fd_key(uint32_t pid, int fd)
{
	return (struct px_key){.value = (uint32_t)fd, .pid = pid, .space = PX_SPACE_FD};
}

struct px_call_object *px_descriptors_process(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key key = process_key(pid);

	return px_call_objects_at(objects, &key);
}

struct px_call_object *px_descriptors_make_process(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key key = process_key(pid);
	struct px_call_object *process = px_call_objects_at(objects, &key);

	if (!process) {
		process = px_call_objects_add(objects, PX_TXTB_UNUSED, 0);
		px_call_objects_bind(objects, &key, process);
	}
	return process;
}

/* What a descriptor is. */
struct seen {
	struct px_call_object *object;
	uint64_t since; /* the process has had it since then */
	uint64_t ticks; /* the same, in ticks */
	bool ends_with_exec;
	bool has_ended_with_exec;
};

/*
 * Find what the descriptor of the process was at this time, or what it would be if the process had not executed a
 * program since it began.  Return false if it was closed, or if it is not known.
 */
static bool look(struct px_call_objects *objects, uint32_t pid, int fd, uint64_t when, struct seen *seen)
{
	uint64_t when_ticks = UINT64_MAX;
	bool has_executed = false;

	for (int i = 0; i < GENERATIONS_MAX; i++) {
		const struct px_key key = fd_key(pid, fd);
		const struct px_key_state *state = px_call_objects_state(objects, &key);
		const struct px_call_object *process;

		if (state) {
			*seen = (struct seen){.object = px_call_objects_at(objects, &key),
					      .since = state->since,
					      .ticks = state->ticks,
					      .ends_with_exec = state->ends_with_exec,
					      .has_ended_with_exec = has_executed && state->ends_with_exec};
			return state->since <= when && state->ticks < when_ticks &&
			       seen->object->object.type != PX_TXTB_UNUSED;
		}
		process = px_descriptors_process(objects, pid);
		if (!process || !process->process.inherits || process->process.began > when ||
		    process->process.began <= px_call_objects_lost_at(objects))
			return false;
		has_executed |= process->process.executed && process->process.executed <= when;
		when = process->process.began;
		when_ticks = process->process.began_ticks;
		pid = process->process.parent;
	}
	return false;
}

/* Return true if the process has this descriptor, and set since to its beginning if it is an inherited one. */
static bool look_now(struct px_call_objects *objects, uint32_t pid, int fd, struct seen *seen)
{
	const struct px_key key = fd_key(pid, fd);
	const struct px_call_object *process;

	if (!look(objects, pid, fd, px_call_objects_now(objects), seen) || seen->has_ended_with_exec)
		return false;
	if (px_call_objects_state(objects, &key))
		return true;
	process = px_descriptors_process(objects, pid);
	seen->since = process->process.began;
	seen->ticks = process->process.began_ticks;
	return true;
}

static void refer(struct px_call_objects *objects, uint32_t pid, int fd, const struct seen *seen)
{
	const struct px_key key = fd_key(pid, fd);
	struct px_key_state *state;

	px_call_objects_bind(objects, &key, seen->object);
	state = px_call_objects_state(objects, &key);
	if (!state)
		return;
	state->since = seen->since;
	state->ticks = seen->ticks;
	state->ends_with_exec = seen->ends_with_exec;
}

/* Before the descriptor changes: give it to the children that began since it was opened, and have no key for it. */
static void give_to_children(struct px_call_objects *objects, uint32_t pid, int fd)
{
	const struct px_call_object *process = px_descriptors_process(objects, pid);
	uint64_t before = UINT64_MAX;
	struct seen seen;

	if (!process || !process->process.newest_child || !look_now(objects, pid, fd, &seen))
		return;
	for (uint32_t child = process->process.newest_child, next; child; child = next) {
		const struct px_key key = fd_key(child, fd);
		struct px_call_object *it = px_descriptors_process(objects, child);
		struct seen of_child = seen;

		/* If the table forgot a process, the list of children ends there. */
		if (!it || it->process.parent != pid || it->process.began >= before || it->process.began < seen.since)
			return;
		next = it->process.older_sibling;
		before = of_child.since = it->process.began;
		of_child.ticks = it->process.began_ticks;
		if (seen.ticks >= it->process.began_ticks || !it->process.inherits)
			continue;
		if (it->process.executed && seen.ends_with_exec)
			of_child.object = it; /* closed */
		if (!px_call_objects_state(objects, &key))
			refer(objects, child, fd, &of_child);
	}
}

struct px_call_object *px_descriptors_at(struct px_call_objects *objects, uint32_t pid, int fd)
{
	const struct px_key key = fd_key(pid, fd);
	struct px_call_object *own = fd >= 0 ? px_call_objects_at(objects, &key) : NULL;
	struct seen seen;

	if (own)
		return own->object.type != PX_TXTB_UNUSED ? own : NULL;
	if (fd < 0 || !look_now(objects, pid, fd, &seen))
		return NULL;
	refer(objects, pid, fd, &seen);
	return seen.object;
}

void px_descriptors_open(struct px_call_objects *objects, uint32_t pid, int fd, struct px_call_object *object)
{
	give_to_children(objects, pid, fd);
	refer(objects, pid, fd,
	      &(struct seen){.object = object,
			     .since = px_call_objects_advance(objects),
			     .ticks = px_call_objects_ticks(objects)});
}

/*
 * The descriptor is closed: also the one of this number that the parent had, if there is one.  Children that began
 * before this process executed a program must not see that one either.
 */
static void unbind(struct px_call_objects *objects, uint32_t pid, int fd)
{
	const struct px_key key = fd_key(pid, fd);
	struct seen inherited;

	px_call_objects_unbind(objects, &key);
	if (look(objects, pid, fd, px_call_objects_now(objects), &inherited))
		px_call_objects_bind(objects, &key, px_descriptors_process(objects, pid));
}

void px_descriptors_close(struct px_call_objects *objects, uint32_t pid, int fd)
{
	give_to_children(objects, pid, fd);
	unbind(objects, pid, fd);
}

void px_descriptors_end_with_exec(struct px_call_objects *objects, uint32_t pid, int fd, bool ends)
{
	const struct px_key key = fd_key(pid, fd);
	struct px_key_state *state;

	give_to_children(objects, pid, fd);
	px_descriptors_at(objects, pid, fd);
	state = px_call_objects_state(objects, &key);
	if (state)
		state->ends_with_exec = ends;
}

/* Processes. */

static void forget_descriptors(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key *key;
	uint32_t place = 0;

	while ((key = px_call_objects_next_key(objects, pid, &place)))
		if (key->space == PX_SPACE_FD)
			px_call_objects_unbind(objects, key);
}

/* Take the process out of the list of its parent's children.  The list may have lost some that the table forgot. */
static void leave_parent(struct px_call_objects *objects, uint32_t pid, struct px_call_process *it)
{
	struct px_call_object *parent, *older, *newer;

	if (!it->is_listed)
		return;
	parent = px_descriptors_process(objects, it->parent);
	older = it->older_sibling ? px_descriptors_process(objects, it->older_sibling) : NULL;
	newer = it->newer_sibling ? px_descriptors_process(objects, it->newer_sibling) : NULL;
	if (newer && newer->process.older_sibling == pid)
		newer->process.older_sibling = it->older_sibling;
	else if (parent && parent->process.newest_child == pid)
		parent->process.newest_child = it->older_sibling;
	if (older && older->process.newer_sibling == pid)
		older->process.newer_sibling = newer ? it->newer_sibling : 0;
	it->is_listed = false;
	it->older_sibling = it->newer_sibling = 0;
}

static void enter_parent(struct px_call_objects *objects, uint32_t pid, struct px_call_process *it)
{
	struct px_call_object *parent = px_descriptors_make_process(objects, it->parent);
	struct px_call_object *older = NULL;

	if (parent->process.newest_child)
		older = px_descriptors_process(objects, parent->process.newest_child);
	it->older_sibling = parent->process.newest_child;
	it->is_listed = true;
	if (older)
		older->process.newer_sibling = pid;
	parent->process.newest_child = pid;
}

/* What the children of an ended process inherited from it is not known any more. */
static void leave_children(struct px_call_objects *objects, uint32_t pid, struct px_call_process *it)
{
	uint32_t next = it->newest_child;
	uint64_t before = UINT64_MAX;

	it->newest_child = 0;
	while (next) {
		struct px_call_object *child = px_descriptors_process(objects, next);

		if (!child || child->process.parent != pid || child->process.began >= before)
			return;
		before = child->process.began;
		next = child->process.older_sibling;
		child->process.inherits = child->process.is_listed = false;
		child->process.older_sibling = child->process.newer_sibling = 0;
	}
}

/*
 * Return true if this is told of the process that is known already.  If the parent tells it after the end of the
 * process, it tells of that one, or of the next process with this pid.
 */
static bool is_told_again(struct px_call_process *it, uint32_t parent, enum px_teller teller)
{
	if (!teller || !it->told || it->told & teller || it->parent != parent || it->has_ended)
		return false;
	it->told |= teller;
	it->inherits &= !it->is_doubtful;
	return true;
}

void px_descriptors_begin_process(struct px_call_objects *objects, const struct px_descriptors_child *child,
				  enum px_teller teller)
{
	const uint32_t pid = child->pid, parent = child->parent;
	struct px_call_object *process = px_descriptors_make_process(objects, pid);
	struct px_call_object *of_parent = px_descriptors_process(objects, parent);
	struct px_call_process *it = &process->process;
	bool is_doubtful = it->has_ended && it->told == PX_TOLD_BY_CHILD && teller == PX_TOLD_BY_PARENT;

	if (is_told_again(it, parent, teller))
		return;
	if (it->told || it->has_ended)
		px_call_objects_end_program(objects, pid);
	leave_parent(objects, pid, it);
	leave_children(objects, pid, it);
	forget_descriptors(objects, pid);
	if (teller == PX_TOLD_BY_PARENT)
		process->object.program = child->inherits && of_parent ? of_parent->object.program : 0;
	*it = (struct px_call_process){.parent = parent, .told = teller, .is_doubtful = is_doubtful};
	if (child->inherits && parent && parent != pid) {
		it->began = px_call_objects_advance(objects);
		it->began_ticks = child->began_ticks;
		it->inherits = true;
		enter_parent(objects, pid, it);
	}
}

void px_descriptors_execute(struct px_call_objects *objects, uint32_t pid)
{
	struct px_call_object *process = px_descriptors_make_process(objects, pid);
	const struct px_key *key;
	uint32_t place = 0;

	if (process->process.has_ended) {
		px_descriptors_begin_process(objects, &(struct px_descriptors_child){.pid = pid}, PX_TOLD_BY_NOBODY);
		return;
	}
	while ((key = px_call_objects_next_key(objects, pid, &place))) {
		const uint64_t nr_forgotten = px_call_objects_nr_forgotten(objects);
		const int fd = (int)key->value;

		if (key->space != PX_SPACE_FD || !px_call_objects_state(objects, key)->ends_with_exec)
			continue;
		give_to_children(objects, pid, fd);
		unbind(objects, pid, fd);
		if (nr_forgotten != px_call_objects_nr_forgotten(objects))
			place = 0; /* the next key may be one of those that were forgotten */
	}
	process->process.executed = px_call_objects_advance(objects);
	process->process.told |= PX_TOLD_BY_CHILD;
}

void px_descriptors_execute_as(struct px_call_objects *objects, uint32_t pid, uint64_t path_hash)
{
	struct px_call_process *it = &px_descriptors_make_process(objects, pid)->process;
	const uint64_t mask = it->executes_by_name ? UINT32_MAX : UINT64_MAX;
	bool is_known = it->executes != 0 && (it->executes & mask) == (path_hash & mask);

	px_descriptors_execute(objects, pid);
	it->executes = 0;
	if (is_known)
		return;
	forget_descriptors(objects, pid);
	it->inherits = false;
}

void px_descriptors_end_process(struct px_call_objects *objects, uint32_t pid)
{
	struct px_call_object *process = px_descriptors_process(objects, pid);

	if (!process)
		return;
	leave_parent(objects, pid, &process->process);
	process->process.has_ended = true;
}

void px_descriptors_reap_process(struct px_call_objects *objects, uint32_t pid)
{
	const struct px_key key = process_key(pid);
	struct px_call_object *process = px_descriptors_process(objects, pid);

	if (!process)
		return;
	px_call_objects_end_program(objects, pid);
	leave_parent(objects, pid, &process->process);
	process->process.has_ended = true;
	process->process.told = PX_TOLD_BY_PARENT | PX_TOLD_BY_CHILD; /* what is told from now on is news */
	if (process->process.newest_child)
		return;
	forget_descriptors(objects, pid);
	px_call_objects_unbind(objects, &key);
}
