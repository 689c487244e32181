/* SPDX-License-Identifier: MIT */
/*
 * System calls that wait and that a program makes with syscall(): futex, futex_waitv, io_uring_enter, io_getevents and
 * io_pgetevents.  The C library has no functions for them.  The runtimes of other languages, servers, and locks that a
 * program made itself, use syscall().
 */
#ifndef PX_PRELOAD_WRAP_FUTEX_H
#define PX_PRELOAD_WRAP_FUTEX_H

/*
 * Make one of these system calls and record it.  syscall() jumps here (seccomp.c), so the return address is in
 * the program, and the parameters are those of syscall().  Return what syscall() returns.  Async-signal-safe.
 */
long px_syscall_that_waits(long number, unsigned long a, unsigned long b, unsigned long c,
			   unsigned long d, unsigned long e, unsigned long f)
	__attribute__((visibility("hidden"), used));

#endif
