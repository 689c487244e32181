/* SPDX-License-Identifier: MIT */
/*
 * Threads of C11.  The C library implements them as POSIX threads with other names.  So each function of C11 has a
 * POSIX counterpart: their wrappers have the same body, and record the same objects.  Only the results differ.  The
 * wrapper of a C11 function returns the result of the real function, but records the error number that corresponds to
 * this result.  So a reader of the trace treats both functions alike.
 */
#ifndef PX_PRELOAD_C11_H
#define PX_PRELOAD_C11_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

#include "event/calls.h"

_Static_assert(thrd_success == 0, "success is 0, as in all other functions");
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
		       sizeof(cnd_t) == sizeof(pthread_cond_t) &&
		       sizeof(thrd_t) == sizeof(pthread_t) && sizeof(once_flag) == sizeof(int),
	       "the same objects");

/* Return true for the calls of C11.  Return false for thrd_sleep(), because its results have another meaning. */
PX_INLINE bool px_c11_is(enum px_call call)
{
	return call >= PX_CALL_thrd_create && call <= PX_CALL_cnd_broadcast;
}

/* Return the error number for a result of a C11 function.  Return any other value unchanged. */
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

/*
 * For a C11 call, do the same as px_c11_error().  For a POSIX call, return the result unchanged.  `call` is a constant,
 * so the compiler evaluates the test.
 */
PX_INLINE int px_c11_error_of(enum px_call call, int result)
{
	return px_c11_is(call) ? px_c11_error(result) : result;
}

#endif
