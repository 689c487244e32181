/* SPDX-License-Identifier: MIT */
/* The C library itself, as the dynamic linker has loaded it.  Async-signal-safe: the functions only read memory. */
#ifndef PX_PRELOAD_C_LIBRARY_H
#define PX_PRELOAD_C_LIBRARY_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/elf.h"

/* Before glibc 2.34, threads and timers were in separate libraries. */
#define PX_C_LIBRARIES_MAX 3

struct px_c_library {
	int nr;
	struct px_elf part[PX_C_LIBRARIES_MAX];
};

/* The C library itself must not compare texts here, because a sanitizer that has not started yet may do that. */
PX_INLINE bool px_c_library_begins_with(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return false;
	return true;
}

void px_c_library_open(struct px_c_library *library);

/* Return the default version of a function of the C library, or NULL if it has no such function. */
void *px_c_library_function(const struct px_c_library *library, const char *name);

#endif
