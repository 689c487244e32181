/* SPDX-License-Identifier: MIT */
/*
 * The calls of trace points in which a thread is now, and the calls that it has left by siglongjmp().
 *
 * A signal handler may interrupt a trace point and leave it for good.  The slots that the trace point had claimed then
 * belong to a living thread, so no other thread may free them (R6 in ring.h).  Therefore each call notes its claim, and
 * the address of its stack frame.  The note is in use from before the first claim to the end of the call (inside.h).  In
 * the usual case no note is in use when a call begins.  Otherwise the new call finds out which of the older calls were
 * left, and frees their claims:
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
 * A claim of a call that counts as running is kept, and looked at again when the next call begins.  All of this is for
 * the calling thread only: no other thread frees these claims.  A signal handler may interrupt it anywhere.
 *
 * F2 is no proof: a debugger may call a function of a thread that it has stopped in a trace point.  That can damage the
 * event, but not memory (px_inside_doubt()).
 *
 * A child made by fork() has a copy of the notes of its parent.  The tid differs, so nothing is freed.  The child of
 * vfork() uses the storage and the tid of the thread that waits for it.  So that thread frees the claims that the child
 * left.
 */
#ifndef PX_TRACE_FRAMES_H
#define PX_TRACE_FRAMES_H

#include <stdint.h>

#include "trace/inside.h"

/* Begin any call, and free the claims of calls that were left.  address: px_frame_here() of the caller. */
PX_INLINE struct px_running px_calls_enter(uintptr_t address);
PX_INLINE void px_calls_leave(struct px_running call);

/* Return the note for the claim of this call. */
PX_INLINE struct px_claim *px_calls_claim(struct px_running call)
{
	return px_likely(call.word) ? &px_first_claim : &call.frame->claim;
}

/* The same for a nested call.  The note is in use until px_frame_leave(). */
PX_COLD struct px_frame *px_frame_enter(uintptr_t address);

/* Note where the usual stack of the calling thread is, at its first event.  Call this inside. */
void px_frames_note_stack(bool is_first_thread);

/* Free the claims of calls that were left. */
PX_COLD void px_calls_free_left(uintptr_t address);

/* For a reader that finds a claim.  Otherwise it would wait for a claim of its own thread. */
PX_INLINE void px_calls_tidy(void)
{
	if (px_unlikely(px_thread.word && px_read_once(px_thread.word) != 0))
		px_calls_free_left(px_frame_here());
}

PX_INLINE struct px_running px_calls_enter(uintptr_t address)
{
	struct px_running call = {px_calls_begin(address), NULL};

	if (px_unlikely(!call.word))
		call.frame = px_frame_enter(address);
	return call;
}

PX_INLINE void px_calls_leave(struct px_running call)
{
	px_inside_leave(call);
}

#endif
