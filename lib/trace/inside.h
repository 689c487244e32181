/* SPDX-License-Identifier: MIT */
/*
 * This module knows which threads are inside a trace point.  It frees the memory of a view when no thread can use the
 * view any more.
 *
 * A process that has many short streams, one after the other, must reuse the address space of those that have ended.
 * But a trace point takes no lock, so another thread may use a view at the moment when the process detaches it.  That
 * thread may then be preempted or stopped for any length of time.  So each thread has an entry with a word.  A thread
 * that uses views of the process stores an address of its stack in the word first, and 0 afterwards: two plain stores.
 * To free a view, a thread does this:
 *
 *	1. take the view out of the table of the process, so that no thread finds it any more;
 *	2. make all threads pass a barrier (membarrier(2));
 *	3. look at the word of each thread.  If it is 0, the thread does not use the view.
 *	4. If it is not 0, look again later.  As soon as the word has another value, the thread has left the trace point
 *	   in which it could use the view.
 *
 * Step 2 orders the store of the word and the load of the view in the other threads.  A thread stores its word before
 * it loads the view.  If the barrier came after this store, step 3 sees the word.  If the barrier came before the
 * store, the thread looks for the view after step 1, and does not find it.  In step 3 a load with acquire reads the 0
 * that the thread stored with release, so all its uses of the view are over.
 *
 * No trace point waits in step 4.  The end of a stream waits for a short time if many views are retired and not freed.
 * Such a view stays in a list until the process reads the registry again.  It maps private memory instead of the stream
 * (px_shm_retire()), so late stores have no effect.
 *
 * Nothing but the word decides whether a view is freed.  So the word must be right after each way into and out of a
 * trace point:
 *
 *	signal handlers	If a handler has interrupted a trace point, a trace point in the handler finds the word set, and
 *			does not change it.  The word of the outer trace point protects the views of both.
 *	siglongjmp	The word stays set when a handler jumps out of a trace point.  The next trace point of the
 *			thread finds it set.  This trace point counts as the outermost one if its own stack address is
 *			not below the address in the word: then the thread has left the stack frame that the word names.
 *			This holds on one stack only.  So the two addresses must be near each other, and the thread must
 *			not be on its signal stack.  In all other cases the word and the views stay: memory is freed
 *			late or never, but not too early.
 *	end of a thread	A thread can end inside a trace point, for instance when a handler calls pthread_exit().  A word
 *			counts only while the kernel knows the thread.  Thread-local storage goes away with its thread.
 *			So the entries are in memory that is never unmapped.  The entry of an ended thread goes to a new
 *			thread.
 *	fork		The child has only the thread that called fork.  The fork handler frees the entries of all other
 *			threads.  The entry of this thread keeps its word, because a handler may have called fork inside
 *			a trace point.  In a child without fork handlers (_Fork(), clone) nothing is ever freed.
 *	vfork		The child uses the entry of the parent's thread, which waits.  If the child makes this entry, it
 *			does not know the thread id, so the entry counts for ever.  If the child ends inside a trace
 *			point, the entry is left as by siglongjmp.
 *	CLONE_VM	Two threads with one thread-local storage would share an entry.  So the process calls
 *			px_inside_give_up(), and from then on frees nothing.
 *
 * If the kernel has no membarrier, nothing is freed.  All functions are async-signal-safe.  Include config.h first.
 */
#ifndef PX_TRACE_INSIDE_H
#define PX_TRACE_INSIDE_H

#include <stdint.h>

#include "base/atomic.h"
#include "ring/segment.h"
#include "trace/thread.h"

struct px_inside {
	uint64_t owner;	  /* serial << 32 | tid (0: unknown); 0: free entry */
	uintptr_t open;	  /* stack address in the outermost trace point; 0: outside */
	uintptr_t nested; /* inner trace points store here instead */
	uintptr_t
		awaited; /* px_inside_reclaim() waits until `open` differs from this; 0: does not wait */
} __attribute__((aligned(PX_CACHE_LINE)));

PX_INLINE uintptr_t px_inside_stack(void)
{
	uintptr_t at;

#if defined __x86_64__
	__asm__("movq %%rsp, %0" : "=r"(at));
#elif defined __aarch64__
	__asm__("mov %0, sp" : "=r"(at));
#else
	at = (uintptr_t)__builtin_frame_address(0);
#endif
	return at;
}

/* The word to use if this thread has no entry yet, or if its word is set. */
PX_COLD uintptr_t *px_inside_find_word(uintptr_t stack);

/*
 * Between these calls, the views that this thread loads from the table of the process stay valid.  Pass the result of
 * px_inside_enter() to px_inside_leave().
 */
PX_INLINE uintptr_t *px_inside_enter(void)
{
	struct px_inside *entry = px_thread.inside;
	uintptr_t stack = px_inside_stack();
	uintptr_t *word;

	if (px_likely(entry && px_read_once(&entry->open) == 0))
		word = &entry->open;
	else
		word = px_inside_find_word(stack);
	px_write_once(word, stack); /* EDGE inside release: by membarrier in px_inside_reclaim() */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return word;
}

PX_INLINE void px_inside_leave(uintptr_t *word)
{
	px_store_release(word, (uintptr_t)0);
}

/* Get memory for a view, or NULL. */
struct px_view *px_inside_allocate(void);

/* Free a view that no other thread has seen. */
void px_inside_free(struct px_view *view);

/*
 * The caller has taken the view out of the table of the process.  Replace its memory by private memory, and free both
 * the view and the memory as soon as no thread can be using them.  Any number of threads may call this for the same
 * view.  They call it between px_inside_enter() and px_inside_leave().
 */
void px_inside_retire(struct px_view *view);

/* Free retired views if possible.  Do not call this between px_inside_enter() and px_inside_leave(). */
void px_inside_reclaim(void);

/*
 * If many retired views are not freed yet, wait for at most 50 ms until some are free: a thread that was preempted
 * inside a trace point may soon leave it.  Trace points must not call this.
 */
void px_inside_settle(void);

/* From now on, free nothing. */
void px_inside_give_up(void);

/* The fork handler calls this in the child. */
void px_inside_after_fork(void);

#endif
