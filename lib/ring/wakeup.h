/* SPDX-License-Identifier: MIT */
/*
 * A reader sleeps until a writer, in any process, wakes it up.
 *
 * The reader raises a flag.  It makes every CPU that runs a program with this library pass a full barrier (membarrier).
 * Then it checks the rings again, and sleeps on the flag.  So the writer needs no barrier between its commit and its
 * load of the flag: either the reader's second check finds the record, or the writer finds the flag raised.
 *
 * The reader sleeps until another thread clears the flag, the deadline passes, or a signal handler ends the call.  It
 * does not sleep in rounds: a signal handler that runs between two rounds would not end the call with EINTR
 * (GETNEXT-12).  No rounds are needed:
 *
 *	- A reader waits for a record, a dropped event, a control event, or the end of the stream.  Each thread that
 *	  causes one of these checks the flag afterwards.
 *	- One system call clears the flag and wakes up the sleepers.  So no thread can be killed in between and leave
 *	  sleepers without a flag.
 *	- Between its commit and its load of the flag, a writer may be killed, or a signal handler may leave it by
 *	  siglongjmp().  Then the call never returned, so the program cannot expect that a reader has the event yet.
 *	  The reader wakes up at the next event, and reports both.
 *	- If a reservation is not yet committed, the reader does not sleep on the flag but makes short pauses.
 *
 * Without membarrier, the reader sleeps in rounds of at most 50 ms.
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
	PX_WAITING_EVENT = 1, /* wake the reader at the next event */
	PX_WAITING_HIGH = 2   /* wake the reader at the high-water mark, or when the stream stops automatically */
};

/* Raise the flag.  Then the caller must read a new counter, check the rings again, and only then sleep. */
void px_wakeup_prepare(uint32_t *flag, enum px_waiting what);

/* Sleep while the flag has this value, for at most ns nanoseconds.  This is not a cancellation point. */
void px_wakeup_doze(uint32_t *flag, enum px_waiting what, uint64_t ns);

/*
 * Sleep while the flag is PX_WAITING_EVENT; without membarrier, for at most one round.  Return 0 (check again), EINTR
 * (a signal handler without SA_RESTART ran) or ETIMEDOUT (the deadline has passed).  The deadline is absolute on
 * CLOCK_REALTIME; NULL: none.  This is a cancellation point.  On kernels before 5.16, every signal handler causes EINTR
 * if the wait has a deadline, or if the reader sleeps in rounds.
 */
int px_wakeup_sleep(uint32_t *flag, const struct timespec *deadline);

/*
 * Do what px_wakeup_sleep() does if the flag was cleared before it sleeps.  Return why the kernel refuses
 * futex_waitv(2), or 0.  Keeps errno.
 */
int px_wakeup_check(void);

/* Sleep for at most ns nanoseconds, which should be a short time.  This is a cancellation point. */
void px_wakeup_pause(uint64_t ns);

/* Clear the flag and wake all its sleepers, in one step.  Async-signal-safe. */
PX_COLD void px_wakeup_wake(uint32_t *flag);

/* A writer calls this after a commit.  Return true if the writer may have to wake up a reader. */
PX_INLINE bool px_wakeup_is_awaited(const uint32_t *flag)
{
	return px_unlikely(px_read_once(flag) != PX_WAITING_NOBODY); /* EDGE wake acquire */
}

#endif
