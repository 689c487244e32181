/* SPDX-License-Identifier: MIT */
/*
 * The calls of trace points in which a thread is now.  They show when no call can use a view any more, so that its
 * memory can be freed.
 *
 * Each thread has a word in a table of the process.  The word holds the address of the stack frame of the first call.
 * The low bits of such an address are 0.  There the word has one bit for each note of a nested call.  A call is nested
 * if the word is not 0 when the call begins: a signal handler has interrupted another call, or has left it by
 * siglongjmp() (frames.h).  In the usual case the word is 0.  Then a call stores its address in the word when it
 * begins, and clears the word when it ends.  A call needs no other instructions for this file and for frames.h.
 *
 * A process with many short streams needs the address space of ended streams again.  But a trace point takes no lock,
 * so another thread may use a view at the moment when the process detaches it.  That thread may be preempted there, or
 * stopped, for any time.  To free a view, a thread does this (views.h):
 *
 *	1. take the view out of the table of the process, so that no thread finds it any more;
 *	2. make all threads pass a barrier (membarrier(2));
 *	3. look at the word of each thread.  If it is 0, the thread does not use the view.
 *	4. If it is not 0, look again later.  A call of the word has ended if its bit is seen as 0, or its address as
 *	   another one.  When each call has ended, the thread has left all trace points in which it could use the view.
 *
 * Step 2 orders the store of the word and the load of the view in the other threads.  If a thread loaded the view, it
 * stored its word before that.  If the barrier came after the store, step 3 sees it.  If the barrier came before the
 * store, the thread loads the view after step 1, and does not find it.  In step 3 a load with acquire reads the word
 * that the thread stored with release, so all its uses of the view are over.
 *
 * No trace point waits in step 4; the end of a stream waits a little if many views are kept.  The view stays in a list
 * until the process reads the registry again.  Until it is freed, a view has private memory instead of the stream
 * (px_shm_retire()), so late stores have no effect.
 *
 * Nothing but the word decides whether a view is freed.  So the word must be right after each way into and out of a
 * trace point:
 *
 *	signal handlers	A call in a handler that has interrupted another one is nested.  It sets and clears a bit.
 *	siglongjmp	The address or the bit stays when a handler jumps out of a call.  The next call of the thread
 *			clears it, if it finds that the call was left (frames.h).  In all other cases it stays, and the
 *			views stay too: they may be freed late, but never too early.  If the frame of the left call is
 *			above the frame of the new call, there is no proof that the call was left.  Then the thread
 *			still counts as inside.  This ends when a trace point on the same stack, with a frame that is
 *			not deeper, calls px_process_refresh().
 *	end of a thread	A thread can end inside, for instance when a handler calls pthread_exit().  A word counts only
 *			while the kernel knows the thread.  Entries are not in thread-local storage, which goes away,
 *			but in memory that is never unmapped.  A new thread can get the entry of an ended thread.  It
 *			looks only at a few entries, so its cost does not depend on the number of threads.
 *	fork		The child has only the thread that called fork.  The fork handler frees the entries of all other
 *			threads.  The entry of this thread keeps its word, because a handler may have called fork inside
 *			a trace point.  In a child without fork handlers (_Fork(), clone) nothing is ever freed.
 *	vfork		The child uses the entry of the parent's thread, which waits.  If the child makes this entry, it
 *			does not know the tid of that thread, so the entry counts for ever.  If the child ends inside a
 *	trace point, the entry looks as if a handler had left the trace point by siglongjmp.
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

/* number of notes of nested calls: the address of a stack frame has this many low bits that are 0 */
#define PX_FRAMES 4
#define PX_FRAMES_BITS (((uintptr_t)1 << PX_FRAMES) - 1)

/* The note of a nested call. */
struct px_frame {
	uintptr_t address; /* address of the call's stack frame; 0: the note is not in use */
	struct px_claim claim;
};

struct px_inside {
	uintptr_t word; /* address of the first call, or 0; bit i: nested[i] is in use.  px_thread.word points here */
	uint64_t owner;	   /* serial << 32 | tid (0: unknown); 0: free entry */
	uintptr_t awaited; /* px_views_reclaim() waits until these parts of the word have changed */
	uintptr_t doubted; /* highest frame of the calls that were probably left; 0: none */
	uint32_t nr_unnoted;  /* nested calls without a note */
	uint32_t awaits_zero; /* 1: px_views_reclaim() waits until `doubted` and `nr_unnoted` are 0 */
	uintptr_t stack_top;  /* top of the thread's usual stack; 0: not known yet (frames.h) */
	uintptr_t stack_low;  /* the stack reaches at least down to this address */
	uint32_t stack_ends;  /* 1: the stack ends at stack_low */
	/*
	 * If a stream has stacks or times of threads: when the wait of this thread began; 0: not known, as after a wait
	 * in a handler.
	 */
	uint64_t wait_since;
	uintptr_t interruption; /* the signal frame that was found last (frames.h); 0: none */
	struct px_frame nested[PX_FRAMES];
} __attribute__((aligned(PX_CACHE_LINE)));

/*
 * Replace 0 in the word by the address.  Return false if the word was not 0.  This is one instruction: a signal handler
 * between a load and a store could leave a call of its own by siglongjmp(), and the store would remove the mark of that
 * call.  Only this thread stores to its word, so the instruction has no lock prefix.
 */
PX_INLINE bool px_calls_mark(uintptr_t *word, uintptr_t address)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	uintptr_t before = 0;
	bool was_zero;

	__asm__ __volatile__("cmpxchgq %3, %1"
			     : "+a"(before), "+m"(*word), "=@ccz"(was_zero)
			     : "r"(address)
			     : "memory");
	return was_zero;
#else
	return px_compare_exchange(word, (uintptr_t)0, address);
#endif
}

/*
 * Begin the first call of this thread, with px_first_claim for its claim.  Return NULL if the thread is in another
 * call, or has no entry yet.  Otherwise pass the result to px_calls_end().
 */
PX_INLINE uintptr_t *px_calls_begin(uintptr_t address)
{
	uintptr_t *word = px_thread.word;

	/* EDGE inside release: by membarrier in px_views_reclaim() */
	if (px_unlikely(!word || !px_calls_mark(word, address)))
		return NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return word;
}

/* End the first call.  A handler may have left bits of nested calls; one instruction keeps them. */
PX_INLINE void px_calls_end(uintptr_t *word)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ __volatile__("andq %1, %0" : "+m"(*word) : "i"(PX_FRAMES_BITS) : "memory", "cc");
#else
	px_fetch_and(word, PX_FRAMES_BITS);
#endif
}

/*
 * Begin a nested call, or the first one of a thread without an entry.  The note is in use until px_frame_leave().  If
 * all notes are in use, px_frame_find() does nothing and returns NULL, and px_frame_take() begins the call without a
 * note.
 */
PX_COLD struct px_frame *px_frame_find(uintptr_t address);
PX_COLD struct px_frame *px_frame_take(uintptr_t address);
PX_COLD void px_frame_leave(struct px_frame *frame);

/* A first call or a nested call.  The other member is NULL. */
struct px_running {
	uintptr_t *word;	/* for a first call: the word of the thread */
	struct px_frame *frame; /* for a nested call: its note */
};

/*
 * Between these calls, the views that this thread loads from the table of the process stay valid.  The thread claims no
 * slots in between.  address: px_frame_here() of the caller.
 */
PX_INLINE struct px_running px_inside_enter(uintptr_t address)
{
	struct px_running call = {px_calls_begin(address), NULL};

	if (px_unlikely(!call.word))
		call.frame = px_frame_take(address);
	return call;
}

PX_INLINE void px_inside_leave(struct px_running call)
{
	if (px_likely(call.word))
		px_calls_end(call.word);
	else
		px_frame_leave(call.frame);
}

/* Return the entry of the calling thread, or NULL if it has none. */
struct px_inside *px_inside_own(void);

/*
 * Do the same as px_inside_enter(), but without a note.  If a signal handler leaves this work by siglongjmp(), no view
 * is freed while the thread lives.
 */
void px_inside_enter_unnoted(void);
void px_inside_leave_unnoted(void);

/* Call this if the call with this stack frame seems to be left.  The thread still counts as inside. */
void px_inside_doubt(uintptr_t address);

/* A trace point with this stack frame has begun.  End the doubts if its frame proves that the calls were left. */
void px_inside_end_doubt(uintptr_t address);

/* From now on, free nothing: px_inside_has_given_up() returns true. */
void px_inside_give_up(void);
bool px_inside_has_given_up(void);

/*
 * Step 3: note the calls in which all threads are now.  Step 4: return true if one of these calls may not have ended.
 * Only one thread at a time may use these functions, and it does so outside of trace points.
 */
void px_inside_await(void);
bool px_inside_is_awaited(void);

/* The fork handler calls this in the child, which has one thread. */
void px_inside_after_fork(void);

#endif
