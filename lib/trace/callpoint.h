/* SPDX-License-Identifier: MIT */
/*
 * The trace point of a wrapper: one call into every stream of this process that wants it.
 *
 * As tracepoint.h, but that ids are not opened, and that calls are counted.  The gate was found open.  Async-signal-safe,
 * lock-free, no allocation, keeps errno.
 */
#ifndef PX_TRACE_CALLPOINT_H
#define PX_TRACE_CALLPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "event/calls.h"
#include "ring/wrapper_stats.h"
#include "trace/process.h"

/* Which call it is, and how far: enum px_call, and of px_record_flags those of waiting. */
#define PX_CALL_AT(call, flags) ((uint32_t)(flags) << 16 | (uint32_t)(call))

/* The wrappers of this process, by their numbers.  Set once, by a constructor; told to a stream with its first call. */
extern const struct px_wrapper_row *(*px_callpoint_rows)(uint32_t *nr_rows)
	__attribute__((visibility("hidden")));

/*
 * What is recorded without a wrapper, counted behind them all.  Each has a number of its own, since the first call under
 * a number makes its type known.
 */
enum px_no_wrapper {
	PX_NO_WRAPPER_FIRST = PX_WRAPPERS_MAX - 9,
	PX_NO_WRAPPER_THREAD_START = PX_NO_WRAPPER_FIRST,
	PX_NO_WRAPPER_THREAD_END,
	PX_NO_WRAPPER_HANDLER_ENTER,
	PX_NO_WRAPPER_HANDLER_EXIT,
	PX_NO_WRAPPER_INNER_UNLOCK, /* what the C library does in pthread_cond_wait() */
	PX_NO_WRAPPER_INNER_LOCK,
	PX_NO_WRAPPER_INNER_C11_UNLOCK, /* and in cnd_wait() */
	PX_NO_WRAPPER_INNER_C11_LOCK,
	PX_NO_WRAPPER_NAME
};

_Static_assert(PX_NO_WRAPPER_NAME < PX_WRAPPERS_MAX, "these are counted too");

/* A call with 16 bytes of data. */
void px_callpoint(uint32_t wrapper, uint32_t call_at, uint64_t first, uint64_t second,
		  void *address);

/* One with more: union px_call_data, and what follows it. */
void px_callpoint_long(uint32_t wrapper, uint32_t call_at, const void *data, size_t length,
		       void *address);

/* A sample of what the wrapper costs, in ticks of px_callpoint_clock(). */
void px_callpoint_cost(uint32_t wrapper, uint64_t ticks);
uint64_t px_callpoint_clock(void);

#endif
