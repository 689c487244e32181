/* SPDX-License-Identifier: MIT */
/*
 * Which inherited streams a process was born into.
 *
 * A stream with the attribute POSIX_TRACE_INHERITED traces its target and all that descend from it,
 * if each link of the descent began after the stream was made (FORK-1 ... FORK-3, SPAWN-1).  That is
 * decided once in the life of a process: streams made later trace it only as their target.  How it
 * is found out depends on how the process came to be:
 *
 *	fork, clone	The child has a copy of its parent's memory, and there the parent's *lineage*:
 *			who it is, and to what it is attached.  A handler has brought it up to date
 *			just before fork.  The page that says who we are is zero in the child
 *			(process.h), so it finds out that the lineage is another's.
 *	exec		The process is the same as before, by pid and start.  It is the target of a
 *			stream, or stands among its *members*.
 *	posix_spawn,	The memory is new, and no handler ran.  The constructor goes up the parents
 *	vfork + exec	in /proc, until it meets the target, or a member, of a stream; each link on
 *			the way must have begun after the stream was made.
 *
 * Members of a stream are all who were born into it; they stand in its segment, so that they are
 * found after exec, and by their children.  Starts are counted in clock ticks.  So that none of
 * them is ambiguous, making an inherited stream waits for a tick: whoever lived before the call
 * began earlier, and whoever is born after its end begins later, or in the same tick.
 *
 * Not followed: a process whose parent is gone before its constructor runs, unless it was traced
 * before its exec; one in another pid or time name space, where its pid and start mean something else.
 *
 * All async-signal-safe.
 */
#ifndef PX_REGISTRY_INHERIT_H
#define PX_REGISTRY_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"
#include "ring/segment.h"

/* In ordinary memory, which a child has a copy of. */
struct px_inheritance {
	struct px_process_id id; /* pid 0: this program has not looked yet, so it came by exec */
	struct px_view *view[PX_STREAMS_MAX];
};

/*
 * True if the process belongs to the inherited stream of this slot: by its members, or by its parents.  For one that
 * came by exec, and for a child whose parent had not looked at that stream yet.
 */
bool px_inherit_is_inherited(const struct px_registry_slot *slot, uint32_t index,
			     const struct px_process_id *us);

/* The same of a slot whose members the caller has read, from wherever they stand. */
bool px_inherit_is_among(const struct px_registry_slot *slot,
			 const uint64_t member[PX_SEGMENT_MEMBERS], const struct px_process_id *us);

/* Note a process as a member.  Where there are too many it cannot be found after exec. */
void px_inherit_add_member(const struct px_view *view, const struct px_process_id *us);

/* True if the process of this word (procfs.h) is a member. */
bool px_inherit_has_member(const struct px_view *view, uint64_t word);

#endif
