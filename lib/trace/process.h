/* SPDX-License-Identifier: MIT */
/*
 * This process and its threads as targets: their identity, and the streams that they write to.
 *
 * The state of a process (struct px_self) is in a page directly after the first page of the registry, which all
 * processes share.  In every child the kernel fills the page of struct px_self with zeros (MADV_WIPEONFORK).  To find
 * that no stream traces this process, a trace point needs two loads and a branch.  It compares the shared generation,
 * which is the last word of the first page, with `quiet`, the first word of the second page.  `quiet` is the generation
 * at which this process found that no stream traces it.  While the process has streams, and in a new child, `quiet` is
 * 0, which is never a generation.
 *
 * A thread that finds a new generation reads the registry, attaches to new streams and detaches from old ones.  It uses
 * nothing but system calls for this, so it may do this in a signal handler.  If any stream has changed, the thread
 * starts a new epoch of the process.  Each thread then registers itself in the streams at its next event.  A thread of
 * a child starts with a copy of the parent's thread-local storage.  It finds out its own identity when it registers.
 *
 * Any number of threads and signal handlers may do this at the same time.  A call may create a stream for this process.
 * From the return of that call to the end of the stream, each event of this process finds the stream attached.  (A
 * process that cannot attach is the exception.)  The rules P1 to P4 ensure this:
 *
 *	P1  A thread loads a view before it reads the slot.  It removes the view only if the slot is free
 *	    or has another generation.  Generations are never reused, so the removed view belongs to a
 *	    stream that has ended.
 *	P2  A thread loads the generation, then makes each view agree with its slot or fails to attach,
 *	    and then stores the generation in px_self.  A preempted thread may later insert a view of a
 *	    stream that has ended, but only into an empty view[i].  The creation of the next stream
 *	    changes the generation.  Then a thread checks again, and removes this view.
 *	P3  Before a thread inserts a view into view[i], it sets bit i of `attached`.  No thread clears
 *	    the bit.  Readers skip an empty view[i].
 *	P4  A thread that inserts a view opens the gate after that.  A thread that shuts the gate checks
 *	    the views again after that, and opens the gate if there is a view.  So the gate does not stay shut while
 *	    there is a view, even if a thread is preempted at any point.  The gate may stay open without a view until
 *	    the registry changes, which costs only time.
 *
 * After fork, the child's page is zero, so the child checks everything again.  It takes over its
 * parent's views of the streams that it inherits, but with its own mappings.  It retires the
 * parent's mappings, because a signal handler that interrupted a writer may have called fork, and
 * this writer continues in the child.  A child of vfork has the identity of its parent.
 */
#ifndef PX_TRACE_PROCESS_H
#define PX_TRACE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"
#include "ring/segment.h"
#include "trace/thread.h"

struct px_self {
	uint32_t quiet;
	uint32_t generation;  /* generation of the registry that this process read last */
	uint64_t epoch;	      /* changes with the pid or the views; 0: identity not known */
	uint64_t attached;    /* bit i: view[i] may be in use (P3) */
	uint64_t incarnation; /* px_process_incarnation(); 0: not known yet */
	uint64_t start;
	uint32_t pid;
	uint32_t pid_namespace;
	uint32_t forked_pid;		    /* set by the fork handler in a child; otherwise 0 */
	uint64_t flush_threads;		    /* number of flush threads ever begun << 32 | number that exist (flush.c) */
	uint32_t has_fork_handlers;	    /* 0: the handlers did not run in this child (inside.h) */
	uint32_t knows_inherited;	    /* 1: the member `inherited` is valid (inherit.h) */
	uint32_t inherited[PX_STREAMS_MAX]; /* generation of an inherited stream, or 0 */
	struct px_view *view[PX_STREAMS_MAX];
};

struct px_gate {
	struct px_registry_gate shared;
	struct px_self self;
	char unused[PX_GATE_BLOCK - sizeof(struct px_self)];
};

extern struct px_gate px_gate __attribute__((aligned(PX_GATE_BLOCK), visibility("hidden")));

/*
 * Return true if a stream may trace this process.  If it returns false, the trace point does
 * nothing.
 */
PX_INLINE bool px_gate_is_open(void)
{
	/* EDGE attach acquire: px_process_refresh() loads the generation again, with acquire */
	return px_read_once(&px_gate.shared.generation) != px_read_once(&px_gate.self.quiet);
}

/* Return true if px_thread and the views are up to date. */
PX_INLINE bool px_process_is_current(void)
{
	return px_likely(px_read_once(&px_gate.shared.generation) ==
			 px_read_once(&px_gate.self.generation)) &&
	       px_likely(px_thread.epoch == px_read_once(&px_gate.self.epoch));
}

/*
 * Find out the identity of this process and the streams that trace it.  Register the calling thread
 * in these streams.  frame: px_frame_here() of the caller (px_inside_end_doubt()).  Keeps errno.
 * Async-signal-safe.
 */
PX_COLD void px_process_refresh(uintptr_t frame);

/*
 * Attach to a stream that this process has just published for itself.  Return 0, or ENOMEM if this
 * process cannot attach.  Keeps errno.  Async-signal-safe.
 */
int px_process_join(uint32_t index, uint32_t generation);

/*
 * This process ends: store its mappings again if it has loaded or unloaded code since it attached (maps_file.h).  A
 * destructor calls this, so only a caller of _exit() has to.  Keeps errno.  Async-signal-safe.
 */
void px_process_store_maps(void);

/* Make sure that px_thread and the views are up to date. */
PX_INLINE void px_process_ensure(void)
{
	if (px_unlikely(!px_process_is_current()))
		px_process_refresh(px_frame_here());
}

/*
 * Map the registry, unless it is mapped.  Return 0 or an error number.  If the constructor failed
 * because /dev/shm was full or missing, this call may succeed.  Not async-signal-safe.
 */
int px_process_init(void);

/*
 * Allocate all memory of the streams that this process made for itself and that grow (ring/growth.h; the controller
 * allocates memory for the others), because the process will make no system
 * calls from now on.  Async-signal-safe.
 */
void px_process_finish_growth(void);

/*
 * Return the id of this process: its pid, its pid namespace and its start time.  Async-signal-safe.
 */
struct px_process_id px_process_id(void);

/*
 * Return a number that no other process gets, not even a later process with the same pid.  Return 0
 * without a registry.
 */
uint64_t px_process_find_incarnation(void);

PX_INLINE uint64_t px_process_incarnation(void)
{
	uint64_t incarnation = px_read_once(&px_gate.self.incarnation);

	return px_likely(incarnation != 0) ? incarnation : px_process_find_incarnation();
}

/*
 * Get the number of the shared name table of this process.  If there is no table, choose or create one.  If no other
 * process needs the table now (!is_shared), create a private table.  Return 0 or ENOMEM.  If there is a registry, the
 * caller must hold its lock, because controllers may search for the table or choose one at the same time.
 */
int px_process_choose_shared_names(bool is_shared, uint32_t *number);

/*
 * Accept the event types that a controller has opened for this process (TRIDOPEN-1), and register
 * them in the streams of this process.  Async-signal-safe.
 */
PX_COLD void px_process_take_granted(void);

/*
 * Do the same as px_types_open(), but also register new types in the streams of this process
 * (EVOPEN-11).
 */
int px_process_open_type(const char *name, unsigned int *id);

/* Do the same as px_types_describe(), also in the streams of this process. */
int px_process_describe_type(unsigned int id, const char *text, size_t length);

#endif
