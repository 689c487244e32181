/* SPDX-License-Identifier: MIT */
/* The C library itself, as the dynamic linker has loaded it.  Async-signal-safe: the functions only read memory. */
#ifndef PX_PRELOAD_C_LIBRARY_H
#define PX_PRELOAD_C_LIBRARY_H

#include "base/elf.h"

/* Before glibc 2.34, threads and timers were in separate libraries. */
#define PX_C_LIBRARIES_MAX 3

struct px_c_library {
	int nr;
	struct px_elf part[PX_C_LIBRARIES_MAX];
};

void px_c_library_open(struct px_c_library *library);

/* Return the default version of a function of the C library, or NULL if it has no such function. */
void *px_c_library_function(const struct px_c_library *library, const char *name);

#endif
