/* SPDX-License-Identifier: MIT */
/*
 * Threads of C11.  In the C library they are those of POSIX under other names, and so they are here: a function of
 * C11 shares the wrapper's body with its equal, by the same objects, and differs in what it returns.  That is passed
 * on as it is; what is recorded is the error number that it stands for, so that who reads a trace judges both alike.
 */
#ifndef PX_PRELOAD_C11_H
#define PX_PRELOAD_C11_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

#include "event/calls.h"

_Static_assert(thrd_success == 0, "as that of all others");
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
		       sizeof(cnd_t) == sizeof(pthread_cond_t) &&
		       sizeof(thrd_t) == sizeof(pthread_t) && sizeof(once_flag) == sizeof(int),
	       "the same objects");

/* Without thrd_sleep(), which returns something else. */
PX_INLINE bool px_c11_is(enum px_call call)
{
	return call >= PX_CALL_thrd_create && call <= PX_CALL_cnd_broadcast;
}

/* What no function of C11 returns stays what it is. */
PX_INLINE int px_c11_error(int result)
{
	switch (result) {
#define PX_C11_RESULT(name, error)                                                                 \
	case name:                                                                                 \
		return error;
#include "event/calls.def"
	default:
		return result;
	}
}

/* Of a call that is of C11, or not: known where it is inlined. */
PX_INLINE int px_c11_error_of(enum px_call call, int result)
{
	return px_c11_is(call) ? px_c11_error(result) : result;
}

#endif
