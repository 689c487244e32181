/* SPDX-License-Identifier: MIT */
/* Allocations without which a command cannot continue. */
#ifndef TXTRACE_BASE_MEMORY_H
#define TXTRACE_BASE_MEMORY_H

#include <stdlib.h>

#include "base/message.h"

/*
 * What must() calls instead of ending the process, in a program that is not the tool.  It does not return.  NULL: end
 * the process.  Each thread has its own.
 */
extern __thread void (*memory_on_failure)(void);

_Noreturn void memory_fail(void);

/* Return the result of an allocation, or exit if it is NULL. */
static inline void *must(void *memory)
{
	if (!memory)
		memory_fail();
	return memory;
}

#endif
