/* SPDX-License-Identifier: MIT */
/*
 * The calls of trace points in which a thread is now, and the calls that it has left by siglongjmp().
 *
 * A signal handler may interrupt a trace point, and then leave it by siglongjmp().  The slots that the trace point had
 * claimed then belong to a living thread, so no other thread may free them (R6 in ring.h).  Therefore each call notes
 * its claim, and the address of its stack frame.  The note is in use from before the first claim to the end of the call
 * (inside.h).  In the usual case no note is in use when a call begins.  Otherwise the new call finds out which of the
 * older calls were left, and frees their claims:
 *
 *	F1  The older frame is *near* the new one, on any stack: at most 2 KiB below it, or 1 KiB above it (640 bytes
 *	    where signal frames are smaller).  Then the older call was left.  A call that still runs was interrupted by
 *	    a signal handler.  The signal frame begins below the frame of the call, and is larger than that.  If the new
 *	    call is in that handler, its frame is further below.  If the handler has switched to a coroutine, the
 *	    coroutine has a stack of its own.  This stack must have room for a signal frame, a handler and a trace
 *	    point, so frames of two stacks are not near each other.  Without optimisation, trace points have larger
 *	    frames, and the new call can miss that an older one was left.
 *	F2  Both calls are on the usual stack of the thread.  The older call was left if no signal frame of the kernel
 *	    is below its frame.  If the new frame is lower, only a signal frame between the two frames counts.  Such a
 *	    signal frame has a stack pointer in or below the older frame.  The older call was also left if its frame is
 *	    at most 8 KiB below the new one: a coroutine with a stack inside the usual one has more room left.
 *	F3  The older frame is on the alternate signal stack, and the thread does not run there now: it was left.
 *	F4  In all other cases, the older call counts as running.  So it does if F2 needs to read memory, and the kernel
 *	    does not tell whether that is possible (process_vm_readv).
 *
 * There are notes for the first call and for PX_FRAMES nested ones.  If all of them are in use, a call has no note, and
 * the library could not find its claim later.  So such a call blocks signals, and no handler can leave it.  Therefore a
 * thread never keeps more than PX_FRAMES + 1 claims of calls that were left.  The call does not block signals of
 * faults, such as SIGSEGV: a program may handle the faults of the memory that it passes to posix_trace_event().  In a
 * process that must make no system calls (confined.h), such a call blocks nothing.
 *
 * To free the claim of a running call is worse than to keep the claim of a call that was left.  So these are the cases:
 *
 *	the older frame is on	what is known			what is done
 *	usual stack, near or	F1 or F2, at any depth		freed by the next call
 *	up to 8 KiB below
 *	usual stack, further	A handler that was left leaves	freed as soon as other frames have overwritten the
 *				its signal frame behind.  A	signal frame; kept until then
 *				coroutine whose stack is inside
 *				the usual one has it, too.
 *	alternate stack		F3: one handler at a time uses	freed by the next call on the usual stack
 *				it.
 *	another stack (of a	The call may go on at any	freed if the next call is near (F1); otherwise kept
 *	coroutine)		time.
 *	a stack that the	Only F1 can be decided.		as on another stack
 *	kernel does not show
 *
 * This code finds the real bounds of the usual stack.  The first thread has a stack that grows; nothing else is mapped
 * less than 64 MiB below its top.  The stack of another thread reaches from its thread control block down to the first
 * page that cannot be read, which is its guard page.  If a stack has no guard page, F2 still finds the signal frames of
 * coroutines below it.  A handler may rewrite its own signal frame to return to another coroutine.  It then leaves no
 * signal frame behind, so a claim is safe only on stacks that are not inside the usual one.
 *
 * If a call counts as running, the thread keeps its claim, and checks it again when the next call begins.  Writers skip
 * its slots in each lap, and the reader sets the event aside after a short wait.  An event that finds no slots because
 * of such claims is counted as given up.  All of this is for the calling thread only: no other thread uses these words.
 * A signal handler may interrupt this code anywhere.
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

/* A call that may claim slots. */
struct px_claiming {
	struct px_running running;
	bool has_blocked; /* the call has blocked signals, because there was no note for it */
	uint64_t signals; /* if so: the signals that were blocked before */
};

/* Begin any call, and free the claims of calls that were left.  address: px_frame_here() of the caller. */
PX_INLINE struct px_claiming px_calls_enter(uintptr_t address);
PX_INLINE void px_calls_leave(struct px_claiming call);

/* Return the note for the claim of this call. */
PX_INLINE struct px_claim *px_calls_claim(struct px_claiming call)
{
	return px_likely(call.running.word) ? &px_first_claim : &call.running.frame->claim;
}

/* Do the same as px_calls_enter() for a nested call.  End the call with px_calls_leave_nested(). */
PX_COLD struct px_claiming px_calls_enter_nested(uintptr_t address);
PX_COLD void px_calls_leave_nested(struct px_claiming call);

/* At the first event of the calling thread, note where its usual stack is.  The thread must be inside (inside.h). */
void px_frames_note_stack(bool is_first_thread);

/*
 * If this address is on the usual stack of the calling thread, return the top of that stack: all memory from the
 * address up to the top is mapped while the thread runs there.  Otherwise return 0.
 */
uintptr_t px_frames_top_above(uintptr_t address);

/* Free the claims of calls that were left. */
PX_COLD void px_calls_free_left(uintptr_t address);

/* A reader calls this when it finds a claim.  Otherwise the reader could wait for a claim of its own thread. */
PX_INLINE void px_calls_tidy(void)
{
	if (px_unlikely(px_thread.word && px_read_once(px_thread.word) != 0))
		px_calls_free_left(px_frame_here());
}

PX_INLINE struct px_claiming px_calls_enter(uintptr_t address)
{
	uintptr_t *word = px_calls_begin(address);

	if (px_unlikely(!word))
		return px_calls_enter_nested(address);
	return (struct px_claiming){.running.word = word};
}

PX_INLINE void px_calls_leave(struct px_claiming call)
{
	if (px_likely(call.running.word))
		px_calls_end(call.running.word);
	else
		px_calls_leave_nested(call);
}

#endif
