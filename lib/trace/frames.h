/* SPDX-License-Identifier: MIT */
/*
 * The calls of trace points in which a thread is now, and the calls that it has left by siglongjmp().
 *
 * A signal handler may interrupt a trace point and leave it for good.  The slots that the trace point had claimed then
 * belong to a living thread, so no other thread may free them (R6 in ring.h).  Therefore each call notes its claim, and
 * the address of its stack frame, in thread-local storage.  The note is in use from before the first claim to the end of
 * the call.  In the usual case no note is in use when a call begins.  Otherwise the new call finds out which of the older
 * calls were left, and frees their claims:
 *
 *	F1  Both calls are on the usual stack of the thread, and the older frame is not above the new one: it was left,
 *	    because the stack frame of a call that runs is above those of its callees.
 *	F2  Both are on the usual stack, and the older frame is above: it was left, unless a signal frame of the kernel
 *	    is between them.  Such a signal frame has a stack pointer in or below the older frame.
 *	F3  The older frame is on the alternate signal stack, and the thread does not run there now: it was left.
 *	F4  In all other cases, the older call counts as running.
 *
 * A claim of a call that counts as running is kept, and looked at again when the next call begins.  All of this is for
 * the calling thread only: no other thread uses these words.  A signal handler may interrupt it anywhere.
 *
 * In a child made by fork(), the frames are those of its parent.  The tid differs, so nothing is freed.  The child of
 * vfork() uses the storage and the tid of the thread that waits for it.  So that thread frees what the child left.
 */
#ifndef PX_TRACE_FRAMES_H
#define PX_TRACE_FRAMES_H

#include <stdint.h>

#include "trace/thread.h"

/* The frame pointer would cost a register.  This address serves as well: it is above all that the function stores. */
#define px_frame_here() ((uintptr_t)__builtin_dwarf_cfa())

/* Return true if a call of the thread has begun.  Then the next one uses px_frame_enter(). */
PX_INLINE bool px_calls_have_begun(void)
{
	return px_read_once(&px_thread.calls) != 0;
}

/*
 * Begin the first call of a trace point, with px_first_claim for its claim.  If a handler runs after
 * px_calls_have_begun() and before this, the calls in it have ended when it returns.  (Only a call that was left inside of
 * that handler is forgotten.)
 */
#define px_calls_begin()                                                                           \
	do {                                                                                       \
		px_write_once(&px_thread.calls, px_frame_here());                                  \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);                                           \
	} while (0)

/* End the first call.  A handler may have left bits of nested calls; one instruction keeps them. */
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

/* For a reader.  Otherwise it would wait for a claim of its own thread. */
PX_INLINE void px_calls_tidy(void)
{
	if (px_unlikely(px_calls_have_begun()))
		px_calls_free_left(px_frame_here());
}

#endif
