/* SPDX-License-Identifier: MIT */
/* getcontext() and its relatives, which not every C library has: without them, a call ends the program. */
#ifndef PX_TESTS_SUPPORT_CONTEXTS_H
#define PX_TESTS_SUPPORT_CONTEXTS_H

#include <features.h>
#include <ucontext.h>

#ifdef __GLIBC__
#define PX_HAS_CONTEXTS 1
#else
#define PX_HAS_CONTEXTS 0
#endif

#endif
