/* SPDX-License-Identifier: MIT */
/* Find out when the program forbids itself system calls. */
#ifndef PX_PRELOAD_WRAP_SECCOMP_H
#define PX_PRELOAD_WRAP_SECCOMP_H

/*
 * Call this before the kernel gets a filter.  If the filter may kill the process for a system call, this object makes
 * no more system calls of its own (confined.h).  mode, flags and program have the same meaning as in seccomp(2).  For
 * prctl(PR_SET_SECCOMP), flags is 0.
 */
void px_seccomp_before(unsigned long mode, unsigned long flags, const void *program);

#endif
