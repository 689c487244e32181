/* SPDX-License-Identifier: MIT */
/*
 * A reader that sleeps until a writer, in whichever process, has something for it.
 *
 * The reader raises a flag, makes every CPU that runs a program with this library pass a full
 * barrier (membarrier), looks again, and sleeps on the flag.  So the writer needs no barrier of its
 * own between its commit and its look at the flag: either the reader's second look finds the
 * record, or the writer finds the flag.
 *
 * Then the sleep has no end but the flag and the deadline: between two rounds of it a handler would
 * run unnoticed, and the call not end with EINTR (GETNEXT-12).  That needs no rounds, because
 *
 *	- whoever changes what a reader waits for looks at the flag afterwards: writers, drops, the
 *	  control events, and the end of the stream;
 *	- the flag goes down and the sleepers wake in one system call, so nobody can vanish in between
 *	  and leave sleepers without a flag;
 *	- a writer that vanishes between its commit and its look at the flag (killed, or left by
 *	  siglongjmp) never finished its call, so nobody can expect the event by then.  It is
 *	  reported together with the next one;
 *	- a reservation that is not committed is waited for by short pauses, not here.
 *
 * Where membarrier is missing a round ends after 50 ms.
 */
#ifndef PX_RING_WAKEUP_H
#define PX_RING_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/atomic.h"

/* What a flag says that is up. */
enum px_waiting {
	PX_WAITING_NOBODY = 0,
	PX_WAITING_EVENT = 1, /* wake at the next event */
	PX_WAITING_HALF = 2   /* wake when a ring is half full, or the stream stops by itself */
};

/* Raise the flag.  After it, look again, with a later counter; then sleep. */
void px_wakeup_prepare(uint32_t *flag, enum px_waiting what);

/* Sleep while the flag says this, for ns at most.  No cancellation point. */
void px_wakeup_doze(uint32_t *flag, enum px_waiting what, uint64_t ns);

/*
 * Sleep while the flag says PX_WAITING_EVENT; where membarrier is missing, for one round.  Returns 0 (look again),
 * EINTR (a handler without SA_RESTART ran) or ETIMEDOUT (the deadline, absolute on CLOCK_REALTIME,
 * NULL for none, is past).  The calling thread may be cancelled here.  Kernels before 5.16 give
 * EINTR for every handler, if there is a deadline or a round.
 */
int px_wakeup_sleep(uint32_t *flag, const struct timespec *deadline);

/* Sleep this long at most; short.  The thread may be cancelled here. */
void px_wakeup_pause(uint64_t ns);

/* Take the flag down and wake all who sleep on it, in one step.  Async-signal-safe. */
PX_COLD void px_wakeup_wake(uint32_t *flag);

/* For writers, after a commit: somebody may have to be woken. */
PX_INLINE bool px_wakeup_is_awaited(const uint32_t *flag)
{
	return px_unlikely(px_read_once(flag) != PX_WAITING_NOBODY); /* EDGE wake acquire */
}

#endif
