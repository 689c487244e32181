/* SPDX-License-Identifier: MIT */
/*
 * The trace point of a wrapper: record one call in every stream of this process that wants it.
 *
 * It differs from tracepoint.h: call types need no opening, and calls are counted.  The caller has found the gate open.
 * Async-signal-safe, lock-free, no allocation, keeps errno.
 */
#ifndef PX_TRACE_CALLPOINT_H
#define PX_TRACE_CALLPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "event/calls.h"
#include "ring/wrapper_stats.h"
#include "trace/process.h"

/* A call and its stage: enum px_call, and PX_RECORD_BEGINS or PX_RECORD_ENDS of enum px_record_flags. */
#define PX_CALL_AT(call, flags) ((uint32_t)(flags) << 16 | (uint32_t)(call))

/* The wrappers of this process, by number.  A constructor sets it once.  The first call in a stream writes the rows. */
extern const struct px_wrapper_row *(*px_callpoint_rows)(uint32_t *nr_rows)
	__attribute__((visibility("hidden")));

/*
 * Numbers, after those of all wrappers, for calls that are recorded without a wrapper.  Each has its own number,
 * because the first call with a number registers its type.
 */
enum px_no_wrapper {
	PX_NO_WRAPPER_FIRST = PX_WRAPPERS_MAX - 9,
	PX_NO_WRAPPER_THREAD_START = PX_NO_WRAPPER_FIRST,
	PX_NO_WRAPPER_THREAD_END,
	PX_NO_WRAPPER_HANDLER_ENTER,
	PX_NO_WRAPPER_HANDLER_EXIT,
	PX_NO_WRAPPER_INNER_UNLOCK, /* inside pthread_cond_wait() */
	PX_NO_WRAPPER_INNER_LOCK,
	PX_NO_WRAPPER_INNER_C11_UNLOCK, /* inside cnd_wait() */
	PX_NO_WRAPPER_INNER_C11_LOCK,
	PX_NO_WRAPPER_NAME
};

_Static_assert(PX_NO_WRAPPER_NAME < PX_WRAPPERS_MAX, "calls[] of a ring counts these too");

/* Record a call with 16 bytes of data. */
void px_callpoint(uint32_t wrapper, uint32_t call_at, uint64_t first, uint64_t second,
		  void *address);

/* Record a call with more data: union px_call_data, and what follows it. */
void px_callpoint_long(uint32_t wrapper, uint32_t call_at, const void *data, size_t length,
		       void *address);

/* Add a sample of the cost of the wrapper, in ticks of px_callpoint_clock(). */
void px_callpoint_cost(uint32_t wrapper, uint64_t ticks);
uint64_t px_callpoint_clock(void);

#endif
