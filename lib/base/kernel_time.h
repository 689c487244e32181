/* SPDX-License-Identifier: MIT */
/*
 * The time in system calls that the library makes itself.  It has 64 bits on every machine, whatever time_t the C
 * library has.  A kernel of 32 bits has it since Linux 5.1.
 */
#ifndef PX_BASE_KERNEL_TIME_H
#define PX_BASE_KERNEL_TIME_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"

struct px_kernel_time {
	int64_t seconds, nanoseconds;
};

/* The number of futex(2) for a time limit of this type. */
#ifdef SYS_futex_time64
#define PX_SYS_FUTEX SYS_futex_time64
#else
#define PX_SYS_FUTEX SYS_futex
#endif

PX_INLINE struct px_kernel_time px_kernel_time(struct timespec time)
{
	return (struct px_kernel_time){.seconds = time.tv_sec, .nanoseconds = time.tv_nsec};
}

/* Sleep for a time.  Unlike nanosleep(), this is no cancellation point.  Return -1 with errno if it ends early. */
PX_INLINE long px_kernel_sleep(const struct px_kernel_time *length)
{
#ifdef SYS_clock_nanosleep_time64
	return syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, length, NULL);
#else
	return syscall(SYS_nanosleep, length, NULL);
#endif
}

#endif
