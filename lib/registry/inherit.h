/* SPDX-License-Identifier: MIT */
/*
 * Find the streams that a process inherits.
 *
 * A stream with the attribute POSIX_TRACE_INHERITED traces its target and all descendants, if each process on the way
 * from the target started after the creation of the stream (FORK-1 ... FORK-3, SPAWN-1).  Each process decides once
 * which streams it inherits.  A stream that is created later traces the process only if the process is its target.  The
 * decision depends on how the process was created:
 *
 *	fork, clone	The child has a copy of its parent's memory with the parent's struct px_inheritance: the
 *			parent's id and its attached streams.  A fork handler updated this structure just before fork.
 *			The page with the id of the process is zero in the child (process.h).  So the child finds out
 *			its own id, which differs from the id in this structure.
 *	exec		The process keeps its pid and start time.  With these it finds out whether it is the target or
 *			a *member* of a stream.
 *	posix_spawn,	The memory is new, and no fork handler ran.  The constructor follows the parents in
 *	vfork + exec	/proc up to the target or a member of a stream.  Each process on this path must have
 *			started after the creation of the stream.
 *
 * The members of a stream are all processes that inherited it.  The segment of the stream stores them.  So after exec a
 * process can find itself, or its parent, among the members.  Start times are in clock ticks.  A controller that
 * creates an inherited stream waits for a new tick.  All processes that exist before the creation have started in an
 * earlier tick.  All processes that begin later start in the new tick or after it.
 *
 * Two kinds of processes inherit no stream.  The first is a process whose parent ends before the constructor runs.  But
 * such a process still inherits if it was traced before its exec.  The second is a process in another pid or time
 * namespace, where its pid and start time have another meaning.
 *
 * All functions are async-signal-safe.
 */
#ifndef PX_REGISTRY_INHERIT_H
#define PX_REGISTRY_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"
#include "ring/segment.h"

/* A process keeps this in ordinary memory, so that a child made by fork() has a copy. */
struct px_inheritance {
	struct px_process_id id; /* pid 0: this process has not checked any stream since its exec */
	struct px_view *view[PX_STREAMS_MAX];
};

/*
 * Return true if the process `us` inherits the stream of this slot.  It inherits the stream if the process or one of
 * its ancestors is a member, or if an ancestor is the target.  Each process on the way must have started after the
 * creation of the stream.  Call this function after exec.  Also call it in a child, if the parent had not checked this
 * stream yet.
 */
bool px_inherit_belongs(const struct px_registry_slot *slot, uint32_t index,
			const struct px_process_id *us);

/* Do the same as px_inherit_belongs(), but the caller has read the members. */
bool px_inherit_is_among(const struct px_registry_slot *slot,
			 const uint64_t member[PX_SEGMENT_MEMBERS], const struct px_process_id *us);

/* Add a process to the members.  If the table of members is full, the process may lose the stream at its next exec. */
void px_inherit_add_member(const struct px_view *view, const struct px_process_id *us);

/* Return true if the process with this word (procfs.h) is a member. */
bool px_inherit_has_member(const struct px_view *view, uint64_t word);

#endif
