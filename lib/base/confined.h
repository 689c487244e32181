/* SPDX-License-Identifier: MIT */
/*
 * A program may forbid itself system calls with a filter (seccomp) that kills it.  It knows nothing of the system calls
 * that a trace point needs at times.  The preloaded object notices the filter, and sets this flag before the kernel
 * gets the filter.  From then on the trace points of the process make no system calls:
 *
 *	- The process does not attach new streams, and keeps the mappings of ended ones.
 *	- A thread that has not recorded an event yet gets its tid from the C library, and no name and priority.
 *	- Trace points do not wake up readers.  The flush thread does not depend on this, and flushes four times a second.
 *	- A child made by fork is not traced, and the exit of the process does not complete a log.
 *
 * The library itself never sets this flag: a program that calls it knows that it makes system calls.
 */
#ifndef PX_BASE_CONFINED_H
#define PX_BASE_CONFINED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

extern uint32_t px_confined __attribute__((visibility("hidden")));

PX_INLINE bool px_is_confined(void)
{
	return px_read_once(&px_confined) != 0;
}

#endif
