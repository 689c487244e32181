/* SPDX-License-Identifier: MIT */
/*
 * A full barrier on all CPUs at once with membarrier(2).  The caller pays for it, and calls are
 * rare.  So the many writers need no barrier of their own.  Processes register to take part.
 * Async-signal-safe; keeps errno.
 */
#ifndef PX_BASE_MEMBARRIER_H
#define PX_BASE_MEMBARRIER_H

#include <stdbool.h>

/* Register this process, and with it its children by fork.  False: the kernel cannot do it or refuses. */
bool px_membarrier_register(void);

/*
 * When this returns true, every thread of each registered process has passed a barrier since the
 * call.  False: no barrier.
 */
bool px_membarrier_all(void);

/*
 * Like px_membarrier_all(), but if the kernel refuses, sleep until earlier stores have surely
 * become visible.
 */
void px_membarrier_settle(void);

#endif
