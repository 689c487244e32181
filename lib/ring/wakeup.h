/* SPDX-License-Identifier: MIT */
/*
 * A reader sleeps until a writer, in any process, has something for it.
 *
 * The reader raises a flag, makes every CPU that runs a program with this library pass a full
 * barrier (membarrier), checks the rings again, and sleeps on the flag.  So the writer needs no
 * barrier between its commit and its load of the flag: either the reader's second check finds the
 * record, or the writer finds the flag.
 *
 * The sleep ends only with the flag or the deadline.  The reader does not sleep in rounds: a signal handler
 * that runs between two rounds would not end the call with EINTR (GETNEXT-12).  No rounds are needed, because
 *
 *	- a thread that changes what a reader waits for checks the flag afterwards: writers, drops, the
 *	  control events, and the end of the stream;
 *	- one system call clears the flag and wakes the sleepers, so no thread can vanish in between
 *	  and leave sleepers without a flag;
 *	- a writer that vanishes between its commit and its load of the flag (killed, or left by
 *	  siglongjmp) never finished its call, so no caller can expect the event by then.  The reader
 *	  reports it together with the next event;
 *	- the reader waits for an uncommitted reservation with short pauses, not here.
 *
 * Without membarrier a round ends after 50 ms.
 */
#ifndef PX_RING_WAKEUP_H
#define PX_RING_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/atomic.h"

/* Values of the flag. */
enum px_waiting {
	PX_WAITING_NOBODY = 0,
	PX_WAITING_EVENT = 1, /* wake at the next event */
	PX_WAITING_HALF = 2   /* wake when a ring is half full, or the stream stops automatically */
};

/* Raise the flag.  Then check the rings again, with a later counter, and sleep. */
void px_wakeup_prepare(uint32_t *flag, enum px_waiting what);

/* Sleep while the flag has this value, for at most ns nanoseconds.  No cancellation point. */
void px_wakeup_doze(uint32_t *flag, enum px_waiting what, uint64_t ns);

/*
 * Sleep while the flag is PX_WAITING_EVENT; without membarrier, for one round.  Return 0 (check again),
 * EINTR (a signal handler without SA_RESTART ran) or ETIMEDOUT (the deadline has passed).  The deadline
 * is absolute on CLOCK_REALTIME; NULL: none.  A cancellation point.  Kernels before 5.16 return EINTR
 * for every signal handler if there is a deadline or a round.
 */
int px_wakeup_sleep(uint32_t *flag, const struct timespec *deadline);

/* Sleep for at most ns nanoseconds, a short time.  A cancellation point. */
void px_wakeup_pause(uint64_t ns);

/* Clear the flag and wake all its sleepers, in one step.  Async-signal-safe. */
PX_COLD void px_wakeup_wake(uint32_t *flag);

/* For writers, after a commit: return true if the writer may have to wake up a reader. */
PX_INLINE bool px_wakeup_is_awaited(const uint32_t *flag)
{
	return px_unlikely(px_read_once(flag) != PX_WAITING_NOBODY); /* EDGE wake acquire */
}

#endif
