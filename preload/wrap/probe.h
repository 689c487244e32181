/* SPDX-License-Identifier: MIT */
/*
 * Tests of arguments that the kernel reads and that we read too.  For a bad pointer the kernel returns EFAULT, and our
 * own read must not crash the program.  So we ask the kernel, with a system call that changes nothing, but only if the
 * call waits anyway or is rare.  Arguments that the C library reads itself need no such test.
 *
 * A program that has confined itself must not be killed for this system call.  Then these functions check only the
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
