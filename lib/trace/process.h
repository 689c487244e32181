/* SPDX-License-Identifier: MIT */
/*
 * This process and its threads as targets: their identity, and the streams that they write to.
 *
 * What a process knows of itself is in a page that is zero in every child, however made
 * (MADV_WIPEONFORK), directly after the registry's shared page.  So a trace point needs two loads and
 * a branch to find that nothing is traced.  It compares the shared generation, the last word of the
 * first page, with `quiet`, the first word of the second.  `quiet` is the generation at which this
 * process found that no stream traces it.  It is 0, which is no generation, while the process has
 * streams, and in a new child.
 *
 * A thread that finds a new generation reads the registry itself, attaches and detaches.  All of that
 * is plain system calls, so it may happen in a signal handler.  A new epoch then makes each thread
 * register itself in the streams at its next event.  In this way a thread of a child, with a copy of
 * the thread-local storage, also learns its identity.
 *
 * Any number of threads and handlers may do this at once.  A stream that traces this process is
 * attached when the call that created it returns, and stays attached, because:
 *
 *	P1  A thread removes a view only if it loaded the view before the slot and found the slot
 *	    free or of another generation.  Generations do not come again, so the removed view
 *	    belongs to a stream that has ended.
 *	P2  A thread that stores the generation loaded it first.  Then it saw each slot and its view
 *	    agree, or failed to attach.  A preempted thread may later insert a view of a stream that
 *	    has ended.  It inserts the view only into an empty entry, and the view is removed when the
 *	    entry is needed: to create a stream changes the generation, so a thread checks again.
 *	P3  The bit of an entry is set before a view is inserted there, and is never cleared.  Readers
 *	    skip an empty entry.
 *	P4  A thread that inserts a view opens the gate after that.  A thread that shuts the gate
 *	    checks the views again after that, and opens it if there is one.  So the gate is not shut
 *	    while there is a view, whichever thread is preempted.  It may stay open without a view
 *	    until the registry changes, which costs only time.
 *
 * fork: the page is zero, so the child checks everything anew, and takes over its parent's views of
 * the streams that it inherits.  It gets its own mappings.  The parent's mappings are retired, because
 * fork may have been called in a handler that interrupted a writer, and the writer goes on in the
 * child.  vfork: the child counts as the parent.
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
	uint32_t generation;  /* of the registry, when this process last read it */
	uint64_t epoch;	      /* changes with pid or attached; 0: identity not known */
	uint64_t attached;    /* bit i: view[i] may be in use (P3) */
	uint64_t incarnation; /* unique to this process; 0: not known yet */
	uint64_t start;
	uint32_t pid;
	uint32_t pid_namespace;
	uint32_t forked_pid;		    /* set by the fork handler in a child; or 0 */
	uint32_t knows_inherited;	    /* the inherited streams are known (inherit.h): */
	uint32_t inherited[PX_STREAMS_MAX]; /* generation of an inherited stream, or 0 */
	struct px_view *view[PX_STREAMS_MAX];
};

struct px_gate {
	struct px_registry_gate shared;
	struct px_self self;
	char unused[PX_GATE_BLOCK - sizeof(struct px_self)];
};

extern struct px_gate px_gate __attribute__((aligned(PX_GATE_BLOCK), visibility("hidden")));

/* Return true if this process may be traced: then the trace point continues. */
PX_INLINE bool px_gate_is_open(void)
{
	/* EDGE attach acquire: px_process_refresh() loads the generation again, with acquire */
	return px_read_once(&px_gate.shared.generation) != px_read_once(&px_gate.self.quiet);
}

/* Return true if px_thread and the views are up to date. */
PX_INLINE bool px_process_is_current(void)
{
	return px_read_once(&px_gate.shared.generation) == px_read_once(&px_gate.self.generation) &&
	       px_thread.epoch == px_read_once(&px_gate.self.epoch);
}

/*
 * Find out the identity of this process and the streams that trace it, and register the thread in
 * them.  Keeps errno.  Async-signal-safe.
 */
PX_COLD void px_process_refresh(void);

/*
 * Attach to a stream that this process has just published for itself.  Return 0 or ENOMEM.
 * In all other respects, this function is like px_process_refresh().
 */
int px_process_join(uint32_t index, uint32_t generation);

/* Make sure that px_thread and the views are up to date. */
PX_INLINE void px_process_ensure(void)
{
	if (px_unlikely(!px_process_is_current()))
		px_process_refresh();
}

/*
 * Make sure that the registry is mapped: return 0 or an error.  The constructor has tried, but since
 * then a full or missing /dev/shm may have changed.  Not async-signal-safe.
 */
int px_process_init(void);

/* Return the id with which other processes can find this process.  Async-signal-safe. */
struct px_process_id px_process_id(void);

/* Return a number that is unique to this process, although pids are reused.  Return 0 without a registry. */
uint64_t px_process_find_incarnation(void);

PX_INLINE uint64_t px_process_incarnation(void)
{
	uint64_t incarnation = px_read_once(&px_gate.self.incarnation);

	return px_likely(incarnation != 0) ? incarnation : px_process_find_incarnation();
}

/*
 * Get the shared name table of this process, and create it if there is none.  Return 0 or ENOMEM.  The caller holds the
 * registry's lock, if there is a registry, because controllers search for the table, or choose it, at the same time.
 */
int px_process_choose_shared_names(uint32_t *number);

/*
 * Accept the event types that a controller has opened for this process (TRIDOPEN-1), and register them in its streams.
 * Async-signal-safe.
 */
PX_COLD void px_process_take_granted(void);

/* Do the same as px_types_open(), and register new types in the streams of this process (EVOPEN-11). */
int px_process_open_type(const char *name, unsigned int *id);

#endif
