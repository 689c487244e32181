/* SPDX-License-Identifier: MIT */
/* Notice when the program forbids itself system calls. */
#ifndef PX_PRELOAD_WRAP_SECCOMP_H
#define PX_PRELOAD_WRAP_SECCOMP_H

/*
 * Call this before the kernel gets a filter.  If the filter may kill the process for a system call that the program does
 * not make, the object makes none from now on (confined.h).  mode, flags and program are as for seccomp(2); for
 * prctl(PR_SET_SECCOMP), flags is 0.
 */
void px_seccomp_before(unsigned long mode, unsigned long flags, const void *program);

#endif
