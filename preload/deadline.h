/* SPDX-License-Identifier: MIT */
/*
 * The deadline of a call.  For some calls the C library checks the deadline before the object.  If the C library will
 * refuse the deadline, a wrapper must not try the object first.
 */
#ifndef PX_PRELOAD_DEADLINE_H
#define PX_PRELOAD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/*
 * No object is below this address.  The kernel refuses a pointer below it, and we must not dereference such a pointer.
 */
#define PX_LEAST_ADDRESS 4096

PX_INLINE bool px_deadline_is_time(const struct timespec *time)
{
	return (uintptr_t)time >= PX_LEAST_ADDRESS && time->tv_nsec >= 0 &&
	       time->tv_nsec < 1000000000;
}

/* Return true for the clocks that a wait for another thread can use. */
PX_INLINE bool px_deadline_is_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* The deadline of a call and its clock.  Calls without a deadline pass zeros. */
struct px_deadline {
	clockid_t clock;
	const struct timespec *time;
};

PX_INLINE bool px_deadline_is_valid(struct px_deadline deadline)
{
	return px_deadline_is_clock(deadline.clock) && px_deadline_is_time(deadline.time);
}

#endif
