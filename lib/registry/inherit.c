/* SPDX-License-Identifier: MIT */
#include "registry/inherit.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/procfs.h"

#define ANCESTORS_MAX 64

static uint64_t word_of(const struct px_process_id *id)
{
	return px_procfs_word(id->pid, id->start);
}

static bool holds(const uint64_t member[PX_SEGMENT_MEMBERS], uint64_t word)
{
	for (int i = 0; i < PX_SEGMENT_MEMBERS; i++)
		if (px_read_once(&member[i]) == word)
			return word != 0;
	return false;
}

/* An ancestor of this process, as /proc describes it. */
struct ancestor {
	uint32_t pid;
	uint32_t parent; /* 0: the process has no parent */
	uint64_t start;
};

static bool read_ancestor(uint32_t pid, struct ancestor *ancestor)
{
	ancestor->pid = pid;
	return pid != 0 && px_procfs_parent(pid, &ancestor->parent, &ancestor->start);
}

static bool descends(const struct px_registry_slot *slot, const uint64_t member[],
		     const struct px_process_id *us)
{
	struct ancestor at;

	if (us->start == 0 || !read_ancestor(us->pid, &at))
		return false;
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		/*
		 * If this process started before the stream was created, neither it nor its descendants inherit the
		 * stream (FORK-3).
		 */
		if (at.start < slot->create_start || !read_ancestor(at.parent, &at))
			return false;
		if (at.pid == slot->target.pid && at.start == slot->target.start)
			return true;
		if (holds(member, px_procfs_word(at.pid, at.start)))
			return true;
	}
	return false;
}

bool px_inherit_belongs(const struct px_registry_slot *slot, uint32_t index,
			const struct px_process_id *us)
{
	const size_t size = PX_SEGMENT_MEMBERS * sizeof(uint64_t);
	uint64_t *member;
	bool is_inherited;

	/* Do not use the stack, because it may be a small signal stack. */
	member = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (member == MAP_FAILED)
		return false;
	/*
	 * Read without a mapping, because most processes that call this do not inherit the stream.
	 */
	is_inherited = px_registry_read_segment(index, slot, offsetof(struct px_segment, member),
						member, size) == 0 &&
		       px_inherit_is_among(slot, member, us);
	munmap(member, size);
	return is_inherited;
}

bool px_inherit_is_among(const struct px_registry_slot *slot,
			 const uint64_t member[PX_SEGMENT_MEMBERS], const struct px_process_id *us)
{
	return slot->target.pid_namespace == us->pid_namespace &&
	       (holds(member, word_of(us)) || descends(slot, member, us));
}

bool px_inherit_has_member(const struct px_view *view, uint64_t word)
{
	return holds(view->segment->member, word);
}

static bool take_entry(uint64_t member[], uint64_t word, bool from_dead)
{
	for (int i = 0; i < PX_SEGMENT_MEMBERS; i++) {
		uint64_t now = px_read_once(&member[i]);

		if (now != 0 && !(from_dead && !px_procfs_has_word(now)))
			continue;
		if (px_compare_exchange(&member[i], now, word))
			return true;
	}
	return false;
}

void px_inherit_add_member(const struct px_view *view, const struct px_process_id *us)
{
	uint64_t *member = view->segment->member;
	uint64_t word = word_of(us);

	if (word != 0 && !holds(member, word) && !take_entry(member, word, false))
		take_entry(member, word, true);
}
