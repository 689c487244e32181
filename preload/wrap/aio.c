/* SPDX-License-Identifier: MIT */
/*
 * Waiting for asynchronous requests of POSIX.  The C library keeps the state of a request in the program's memory, so
 * the wrapper looks there whether the call is going to wait.  The C library itself reads the same memory.
 */
#include "wrap/descriptor.h"

#define AIO_SUSPEND(symbol, request_type, error_of)                                                \
	static bool symbol##_waits(const request_type *const requests[], int nr_requests)          \
	{                                                                                          \
		bool waits = false;                                                                \
                                                                                                   \
		for (int i = 0; i < nr_requests; i++) {                                            \
			if (requests[i] && error_of(requests[i]) != EINPROGRESS)                   \
				return false;                                                      \
			waits = waits || requests[i];                                              \
		}                                                                                  \
		return waits;                                                                      \
	}                                                                                          \
                                                                                                   \
	PX_WRAP int symbol(const request_type *const requests[], int nr_requests,                  \
			   const struct timespec *timeout)                                         \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(poll))                                                           \
			return px_real.symbol(requests, nr_requests, timeout);                     \
		site = PX_SITE(symbol, aio_suspend);                                               \
		return PX_FD_CALL_WAITS(site, nr_requests, symbol##_waits(requests, nr_requests),  \
					0, result, px_real.symbol(requests, nr_requests, timeout), \
					0, px_outcome(result));                                    \
	}
AIO_SUSPEND(aio_suspend, struct aiocb, aio_error)
#ifndef PX_TIME64
AIO_SUSPEND(aio_suspend64, struct aiocb64, aio_error64)
#endif
