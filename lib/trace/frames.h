/* SPDX-License-Identifier: MIT */
/*
 * The calls of trace points in which a thread is now, and the calls that it has left by siglongjmp().
 *
 * A signal handler may interrupt a trace point and leave it for good.  The slots that the trace point had claimed then
 * belong to a living thread, so no other thread may free them (R6 in ring.h).  Therefore each call notes its claim, and
 * the address of its stack frame, in thread-local storage.  The note is in use from before the call's first claim until
 * the call ends.  Usually no note is in use when a call begins.  If there are notes in use, the new call finds out
 * which of the older calls were left, and frees their claims:
 *
 *	F1  Both calls are on the usual stack of the thread, and the older frame is not above the new one: the older
 *	    call was left, because the frame of a running call is above the frames of its callees.
 *	F2  Both are on the usual stack, and the older frame is above the new one: the older call was left, unless a
 *	    signal frame of the kernel is between them.  Such a signal frame has a stack pointer in or below the older
 *	    frame.
 *	F3  The older frame is on the alternate signal stack, and the thread does not run there now: the older call was
 *	    left.
 *	F4  In all other cases, the older call counts as running.
 *
 * If a call counts as running, its claim stays, and the next call checks it again.  A thread does all of this only for
 * its own calls: no other thread uses these words.  A signal handler may interrupt it at any instruction.
 *
 * A child made by fork() has a copy of the notes of its parent.  The tid differs, so nothing is freed.  The child of
 * vfork() uses the storage and the tid of the thread that waits for it.  So that thread frees the claims that the child
 * left.
 */
#ifndef PX_TRACE_FRAMES_H
#define PX_TRACE_FRAMES_H

#include <stdint.h>

#include "trace/thread.h"

/*
 * The frame pointer would cost a register.  The canonical frame address serves as well: it is above everything that the
 * function stores on the stack.
 */
#define px_frame_here() ((uintptr_t)__builtin_dwarf_cfa())

/* Return true if a call of the thread has begun.  Then the next one uses px_frame_enter(). */
PX_INLINE bool px_calls_have_begun(void)
{
	return px_read_once(&px_thread.calls) != 0;
}

/*
 * Begin the first call of a trace point.  Its note is px_first_claim.  A handler may run between px_calls_have_begun()
 * and this: the calls in the handler have ended when it returns.  (If a call was left inside of that handler, its claim
 * stays.)
 */
#define px_calls_begin()                                                                           \
	do {                                                                                       \
		px_write_once(&px_thread.calls, px_frame_here());                                  \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);                                           \
	} while (0)

/*
 * End the first call.  If a handler left a nested call, the bit of that call is still set.  One instruction preserves
 * such bits.
 */
PX_INLINE void px_calls_end(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#if defined(__x86_64__)
	__asm__("andq %1, %0" : "+m"(px_thread.calls) : "i"((1 << PX_FRAMES) - 1) : "cc");
#else
	px_fetch_and(&px_thread.calls, (uintptr_t)((1 << PX_FRAMES) - 1));
#endif
}

/* Begin any call, and free the claims of calls that were left.  The frame is in use until px_frame_leave(). */
PX_COLD struct px_frame *px_frame_enter(uintptr_t address);
PX_COLD void px_frame_leave(struct px_frame *frame);

/* Free the claims of calls that were left. */
PX_COLD void px_calls_free_left(uintptr_t address);

/* A reader calls this.  Otherwise the reader could wait for a claim of its own thread. */
PX_INLINE void px_calls_tidy(void)
{
	if (px_unlikely(px_calls_have_begun()))
		px_calls_free_left(px_frame_here());
}

#endif
