/* SPDX-License-Identifier: MIT */
/*
 * A full barrier on all CPUs at once, which one who looks seldom pays for many who write often: membarrier(2).
 * Processes that want to be passed over by nobody register.  Async-signal-safe; errno is kept.
 */
#ifndef PX_BASE_MEMBARRIER_H
#define PX_BASE_MEMBARRIER_H

#include <stdbool.h>

/* This process takes part from now on, its children by fork too.  False: the kernel cannot, or will not. */
bool px_membarrier_register(void);

/* Every thread of a registered process has passed a barrier since the call.  False: nobody has. */
bool px_membarrier_all(void);

/* Likewise, in any case: where that is refused, after a time in which stores have long arrived. */
void px_membarrier_settle(void);

#endif
