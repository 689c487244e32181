/* SPDX-License-Identifier: MIT */
/* The number of the program that this process executes. */
#ifndef PX_BASE_PROGRAM_H
#define PX_BASE_PROGRAM_H

#include <stdint.h>

/*
 * All copies of this library in a process have the same number, and so has the child of a fork.  The next program that
 * the process executes has another one, because the kernel gives each program 16 random bytes.  The C library makes
 * secrets of them, so the number is only a hash of 32 bits.  0: not known.  Async-signal-safe, without a system call.
 */
uint32_t px_program_number(void);

#endif
