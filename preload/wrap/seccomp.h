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

#define PX_SET_DISPATCH 59 /* PR_SET_SYSCALL_USER_DISPATCH, which older headers do not have */

/*
 * Call this before the kernel begins to send SIGSYS to the program for each system call of a thread
 * (prctl(PR_SET_SYSCALL_USER_DISPATCH)).  The program expects these signals for its own system calls only.  mode: the
 * second argument of prctl(); 0 ends it.
 */
void px_dispatch_before(unsigned long mode);

#endif
