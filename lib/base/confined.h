/* SPDX-License-Identifier: MIT */
/*
 * With a seccomp filter, a program can forbid itself system calls: the kernel kills it if it makes one.  Such a program
 * does not know that a trace point sometimes needs system calls.  The preloaded object wraps the functions that install
 * a filter, and sets this flag before the filter is installed.  A program can also ask for SIGSYS for each of its
 * system calls (PR_SET_SYSCALL_USER_DISPATCH).  Such a program does not expect SIGSYS for the system calls of a trace
 * point.  Once the flag is set, the trace points of the process make no system calls:
 *
 *	- The process does not attach new streams, and keeps the mappings of ended ones.
 *	- A thread that has not recorded an event yet gets its tid from the C library, but no name and no priority.
 *	- Trace points do not wake up readers.  The flush thread does not depend on this, and flushes four times a
 *	  second.
 *	- A child made by fork is not traced, and the exit of the process does not complete a log.
 *
 * Only the preloaded object sets this flag.  A program that calls the library itself can allow the system calls in its
 * filter.
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
