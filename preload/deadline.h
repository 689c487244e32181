/* SPDX-License-Identifier: MIT */
/*
 * Until when a call may wait.  The C library looks at that ahead of the object, for some calls: where it will refuse
 * the deadline, the object must not be tried first.
 */
#ifndef PX_PRELOAD_DEADLINE_H
#define PX_PRELOAD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/* No object is there: such a pointer is refused by the kernel, and must not be followed by us. */
#define PX_LEAST_ADDRESS 4096

PX_INLINE bool px_deadline_is_time(const struct timespec *time)
{
	return (uintptr_t)time >= PX_LEAST_ADDRESS && time->tv_nsec >= 0 &&
	       time->tv_nsec < 1000000000;
}

/* The clocks by which a thread can wait for another one. */
PX_INLINE bool px_deadline_is_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* What a call may wait for, and how: no deadline at all is a call without one. */
struct px_deadline {
	clockid_t clock;
	const struct timespec *time;
};

PX_INLINE bool px_deadline_is_valid(struct px_deadline deadline)
{
	return px_deadline_is_clock(deadline.clock) && px_deadline_is_time(deadline.time);
}

#endif
