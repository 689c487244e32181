/* SPDX-License-Identifier: MIT */
/* Allocations without which a command cannot continue. */
#ifndef TXTRACE_BASE_MEMORY_H
#define TXTRACE_BASE_MEMORY_H

#include <stdlib.h>

#include "base/message.h"

/* Return the result of an allocation, or exit if it is NULL. */
static inline void *must(const void *memory)
{
	if (!memory) {
		message("there is not enough memory");
		exit(EXIT_TROUBLE);
	}
	return (void *)memory;
}

#endif
