/* SPDX-License-Identifier: MIT */
/*
 * Make a full memory barrier on all CPUs that run a registered process, with membarrier(2).  Calls
 * are rare and only the caller pays for them, so the many writers need no barrier of their own.
 * The functions are async-signal-safe and keep errno.
 */
#ifndef PX_BASE_MEMBARRIER_H
#define PX_BASE_MEMBARRIER_H

#include <stdbool.h>

/*
 * Register this process and the children that it forks later, so that px_membarrier_all() includes
 * their threads.  Return false if the kernel does not have membarrier(2) or refuses.
 */
bool px_membarrier_register(void);

/*
 * Make every thread of each registered process execute a full barrier before this function returns.
 * Return false if the kernel refused: then no thread has executed a barrier.
 */
bool px_membarrier_all(void);

/*
 * Do the same as px_membarrier_all().  But if the kernel refuses, sleep for 1 ms: after that all CPUs see the stores
 * that were made before the call.
 */
void px_membarrier_settle(void);

/* Return why the kernel refuses one of the first two calls, or 0. */
int px_membarrier_check(void);

#endif
