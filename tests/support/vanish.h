/* SPDX-License-Identifier: MIT */
/*
 * Threads that vanish: they end by the system call, perhaps in the middle of a call, and the C library learns nothing.
 * pthread_join() of musl would wait for such a thread for ever.
 */
#ifndef PX_TESTS_SUPPORT_VANISH_H
#define PX_TESTS_SUPPORT_VANISH_H

#include <pthread.h>
#include <sys/types.h>

/* End the calling thread by the system call. */
_Noreturn void px_test_vanish(void);

/* Return when the thread has returned, or has ended by px_test_vanish().  One thread at a time may vanish. */
void px_test_join(pthread_t thread);

/* Return when the kernel has no such thread of this process any more. */
void px_test_await_end(pid_t tid);

#endif
