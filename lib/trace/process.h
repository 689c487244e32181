/* SPDX-License-Identifier: MIT */
/*
 * This process and its threads as targets: who they are, and which streams they write to.
 *
 * What a process knows of itself lies in a page that is zero in every child however made
 * (MADV_WIPEONFORK), right behind the registry's shared page.  So a trace point decides with two
 * loads and a branch that nothing is traced: the shared generation, the last word of the one,
 * equals `quiet`, the first word of the other.  `quiet` is the generation at which this process
 * found that no stream is its own, and 0, which is no generation, while it has streams, and in a
 * new child.
 *
 * Whoever finds that the generation has moved looks at the registry by itself, attaches and
 * detaches, all with plain system calls, so that it may happen in a signal handler.  A new epoch
 * then makes each thread introduce itself to the streams at its next event; that is also how a
 * thread of a child, whose thread-local storage is a copy, learns who it is now.
 *
 * Any number of threads and handlers may be at that at once.  A stream that traces us is attached
 * when the call that made it returns, and stays so, because:
 *
 *	P1  A view is taken out only by who loaded it first, and its slot afterwards, and found the
 *	    slot free or of another generation.  Generations do not come again, so what is taken out
 *	    is of a stream that has ended.
 *	P2  Whoever stores the generation loaded it first, and then saw each slot and its view agree
 *	    (or failed to attach).  A view that a sleeper puts in later, of a stream that has ended,
 *	    goes into an empty place only, and out again when the place is wanted: making a stream
 *	    moves the registry's generation, so somebody looks again.
 *	P3  The bit of a place is set before a view is put there, and is never cleared: an empty
 *	    place is passed over.
 *	P4  Who puts a view in opens the gate after it; who shuts the gate looks at the views once
 *	    more after that, and opens it again.  So it is not shut while there is a view, whoever
 *	    sleeps.  It may stay open without one until the registry changes, which costs time only.
 *
 * fork: the page is zero, so the child looks anew, and takes over its parent's views of the streams
 * that it inherits.  It gets mappings of its own; the parent's are retired, since fork may have come in
 * a handler that interrupted a writer, who would go on in the child.  vfork: the child is the parent.
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
	uint32_t generation;  /* of the registry, when we last looked */
	uint64_t epoch;	      /* changes with pid or attached; 0: we do not know who we are */
	uint64_t attached;    /* bit i: view[i] may be in use (P3) */
	uint64_t incarnation; /* no other process has it; 0: not known yet */
	uint64_t start;
	uint32_t pid;
	uint32_t pid_namespace;
	uint32_t forked_pid;		    /* a child's, as fork left it; 0: it came otherwise */
	uint32_t is_born;		    /* what it was born into is known (inherit.h): */
	uint32_t inherited[PX_STREAMS_MAX]; /* the generation of such a stream, or 0 */
	struct px_view *view[PX_STREAMS_MAX];
};

struct px_gate {
	struct px_registry_gate shared;
	struct px_self self;
	char unused[PX_GATE_BLOCK - sizeof(struct px_self)];
};

extern struct px_gate px_gate __attribute__((aligned(PX_GATE_BLOCK), visibility("hidden")));

/* True if the trace point has to look closer. */
PX_INLINE bool px_gate_is_open(void)
{
	/* EDGE attach acquire: whoever attaches loads the generation again, with acquire */
	return px_read_once(&px_gate.shared.generation) != px_read_once(&px_gate.self.quiet);
}

/* True if this thread knows who it is and which streams there are. */
PX_INLINE bool px_process_is_current(void)
{
	return px_read_once(&px_gate.shared.generation) == px_read_once(&px_gate.self.generation) &&
	       px_thread.epoch == px_read_once(&px_gate.self.epoch);
}

/*
 * Look who we are and which streams trace us; introduce the thread to them.  Keeps errno.
 * Async-signal-safe.
 */
PX_COLD void px_process_refresh(void);

/*
 * Attach to a stream that this process has just published for itself: 0, or ENOMEM.  Like a
 * refresh otherwise.
 */
int px_process_join(uint32_t index, uint32_t generation);

/* Make sure that the thread knows who it is.  Afterwards px_thread is right. */
PX_INLINE void px_process_ensure(void)
{
	if (px_unlikely(!px_process_is_current()))
		px_process_refresh();
}

/*
 * Make sure that the registry is there: 0, or why it cannot be.  The constructor has tried; a full
 * or missing /dev/shm may have changed since.  Not async-signal-safe.
 */
int px_process_init(void);

/* This process, as others can find it.  Async-signal-safe. */
struct px_process_id px_process_id(void);

/* This process and no other, also where pids come again.  0 without a registry. */
uint64_t px_process_find_incarnation(void);

PX_INLINE uint64_t px_process_incarnation(void)
{
	uint64_t incarnation = px_read_once(&px_gate.self.incarnation);

	return px_likely(incarnation != 0) ? incarnation : px_process_find_incarnation();
}

/*
 * The table of event names of this process; makes one if there is none.  With the registry's lock held, where
 * the registry can be had: controllers look for it, or give it one, at the same time.  0, or ENOMEM.
 */
int px_process_choose_shared_names(uint32_t *number);

/*
 * What a controller has opened for this process (TRIDOPEN-1) counts as opened, and its streams know it.
 * Async-signal-safe.
 */
PX_COLD void px_process_take_granted(void);

/* px_types_open(), and new types are made known to the streams of this process (EVOPEN-11). */
int px_process_open_type(const char *name, unsigned int *id);

#endif
