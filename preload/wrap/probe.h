/* SPDX-License-Identifier: MIT */
/*
 * Arguments that the kernel reads, and that we read too: a pointer that leads nowhere is EFAULT then, and must not
 * become our fault.  The kernel is asked, with a system call that changes nothing; so only where a call waits anyway,
 * or is a rare one.  What the C library itself reads need not be asked for.
 *
 * A program that has confined itself is not to die of that question: then addresses alone are looked at.
 */
#ifndef PX_PRELOAD_WRAP_PROBE_H
#define PX_PRELOAD_WRAP_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* True if all of it can be read just now.  Keeps errno. */
bool px_probe_can_read(const void *memory, size_t size) __attribute__((visibility("hidden")));

/* The length of a text, or most of it; 0 if it cannot be read up to there.  Keeps errno. */
size_t px_probe_length(const char *text, size_t most) __attribute__((visibility("hidden")));

#endif
