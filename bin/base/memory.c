/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

__thread void (*memory_on_failure)(void);

_Noreturn void memory_fail(void)
{
	if (memory_on_failure)
		memory_on_failure();
	message("there is not enough memory");
	exit(EXIT_TROUBLE);
}
