/* SPDX-License-Identifier: MIT */
/*
 * Tests of memory that the kernel reads for a call, and that the wrapper reads too.  For a bad pointer the kernel
 * returns EFAULT, but a read by the wrapper would crash the program.  So the wrapper first asks the kernel, with a
 * system call that changes nothing.  It does so only for calls that wait anyway or are rare.  Arguments that the C
 * library reads itself need no such test.
 *
 * If a program has confined itself, the kernel may kill it for this system call.  Then these functions check only the
 * address itself.
 */
#ifndef PX_PRELOAD_WRAP_PROBE_H
#define PX_PRELOAD_WRAP_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Return true if all `size` bytes are readable now.  Keeps errno. */
bool px_probe_can_read(const void *memory, size_t size) __attribute__((visibility("hidden")));

/* Return the length of a text, at most `most`.  Return 0 if not all these bytes are readable.  Keeps errno. */
size_t px_probe_length(const char *text, size_t most) __attribute__((visibility("hidden")));

#endif
