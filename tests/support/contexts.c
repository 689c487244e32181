/* SPDX-License-Identifier: MIT */
#include "support/contexts.h"

#if !PX_HAS_CONTEXTS

#include <stdlib.h>

int getcontext(ucontext_t *context)
{
	(void)context;
	abort();
}

int setcontext(const ucontext_t *context)
{
	(void)context;
	abort();
}

void makecontext(ucontext_t *context, void (*function)(void), int nr_arguments, ...)
{
	(void)context;
	(void)function;
	(void)nr_arguments;
	abort();
}

int swapcontext(ucontext_t *from, const ucontext_t *to)
{
	(void)from;
	(void)to;
	abort();
}

#endif
