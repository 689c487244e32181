/* SPDX-License-Identifier: MIT */
/* Memory without which a command cannot go on. */
#ifndef TXTRACE_BASE_MEMORY_H
#define TXTRACE_BASE_MEMORY_H

#include <stdlib.h>

#include "base/message.h"

/* What an allocation returned; the tool exits if that is NULL. */
static inline void *must(void *memory)
{
	if (!memory) {
		message("there is not enough memory");
		exit(EXIT_TROUBLE);
	}
	return memory;
}

#endif
