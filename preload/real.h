/* SPDX-License-Identifier: MIT */
/* The numbers of the wrappers, and pointers to the functions that they wrap. */
#ifndef PX_PRELOAD_REAL_H
#define PX_PRELOAD_REAL_H

#include "config.h"
#include "functions.h"

enum px_wrapper {
#define PX_WRAPPER(symbol, call) PX_WRAPPER_##symbol,
#include "wrappers.def"
	PX_WRAPPERS
};

struct px_real {
#define PX_WRAPPER(symbol, call) __typeof__(symbol) *symbol;
#include "wrappers.def"
};

/*
 * px_hook_prepare() writes these pointers before the first event is recorded.  NULL: the C library has no such
 * function.
 */
extern struct px_real px_real __attribute__((visibility("hidden")));

#endif
