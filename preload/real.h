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

/* The number of the wrapper of `symbol`, which may be a macro (time64.h). */
#define PX_WRAPPER_OF(symbol) PX_WRAPPER_OF_(symbol)
#define PX_WRAPPER_OF_(symbol) PX_WRAPPER_##symbol

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
