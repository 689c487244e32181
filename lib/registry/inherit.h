/* SPDX-License-Identifier: MIT */
/*
 * Find the streams that a process inherits.
 *
 * A stream with the attribute POSIX_TRACE_INHERITED traces its target and all descendants, if each
 * process on the way from the target started after the creation of the stream (FORK-1 ... FORK-3,
 * SPAWN-1).  This is decided once for each process: a stream that is created later traces the
 * process only as its target.  The decision depends on how the process was created:
 *
 *	fork, clone	The child has a copy of its parent's memory with the parent's struct px_inheritance: the
 *			parent's id and its attached streams.  A fork handler updated it just before fork.  The
 *			page with the id of the process is zero in the child (process.h), so the child sees that
 *			this inheritance belongs to another process.
 *	exec		The process keeps its pid and start time.  It is the target of a stream or one of its
 *			*members*.
 *	posix_spawn,	The memory is new, and no fork handler ran.  The constructor follows the parents in
 *	vfork + exec	/proc up to the target or a member of a stream.  Each process on the way must have
 *			started after the creation of the stream.
 *
 * The members of a stream are all processes that inherited it.  They are stored in its segment, so
 * that they and their children are found after exec.  Start times are in clock ticks.  The creation
 * of an inherited stream waits for a tick, so that no start time is ambiguous: a process from
 * before the call started in an earlier tick, and a process from after its end starts in this tick
 * or later.
 *
 * Two kinds of processes are not followed.  The first is a process with a parent that ends before the
 * constructor runs, unless it was traced before its exec.  The second is a process in another pid
 * or time namespace, where its pid and start time have another meaning.
 *
 * All functions are async-signal-safe.
 */
#ifndef PX_REGISTRY_INHERIT_H
#define PX_REGISTRY_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"
#include "ring/segment.h"

/* In ordinary memory, so that a child has a copy. */
struct px_inheritance {
	struct px_process_id id; /* pid 0: not checked in this program yet, so the program was started by
				  * exec */
	struct px_view *view[PX_STREAMS_MAX];
};

/*
 * Return true if the process belongs to the inherited stream of this slot, by the members or by its
 * parents.  For a process after exec, and for a child of a parent that had not checked this stream
 * yet.
 */
bool px_inherit_is_inherited(const struct px_registry_slot *slot, uint32_t index,
			     const struct px_process_id *us);

/* Like px_inherit_is_inherited(), but the caller has read the members. */
bool px_inherit_is_among(const struct px_registry_slot *slot,
			 const uint64_t member[PX_SEGMENT_MEMBERS], const struct px_process_id *us);

/*
 * Add a process to the members.  If there are too many members, the process is not found after
 * exec.
 */
void px_inherit_add_member(const struct px_view *view, const struct px_process_id *us);

/* Return true if the process with this word (procfs.h) is a member. */
bool px_inherit_has_member(const struct px_view *view, uint64_t word);

#endif
