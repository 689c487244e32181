/* SPDX-License-Identifier: MIT */
/*
 * A full barrier on all CPUs at once with membarrier(2).  The caller pays for it, and calls are
 * rare.  So the many writers need no barrier of their own.  The barrier reaches only processes that
 * have registered.  Async-signal-safe; keeps errno.
 */
#ifndef PX_BASE_MEMBARRIER_H
#define PX_BASE_MEMBARRIER_H

#include <stdbool.h>

/* Register this process and its later children by fork.  Return false if the kernel has no membarrier or refuses. */
bool px_membarrier_register(void);

/*
 * Make every thread of each registered process pass a barrier before this returns.  Return false if
 * there was no barrier.
 */
bool px_membarrier_all(void);

/*
 * Like px_membarrier_all(), but if the kernel refuses, sleep until earlier stores have surely
 * become visible.
 */
void px_membarrier_settle(void);

#endif
