/* SPDX-License-Identifier: MIT */
/*
 * The trace point of a wrapper: record one call in every stream of this process that wants it.
 *
 * It differs from tracepoint.h in two ways: the program need not open the event types of calls, and
 * the trace point counts the calls.  The caller must first check that the gate is open (process.h).
 * Async-signal-safe, lock-free, no allocation, keeps errno.
 */
#ifndef PX_TRACE_CALLPOINT_H
#define PX_TRACE_CALLPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "event/calls.h"
#include "ring/wrapper_stats.h"
#include "trace/process.h"

/*
 * Pack a call (enum px_call) and its flags (PX_RECORD_BEGINS, PX_RECORD_ENDS,
 * PX_RECORD_ENDS_WITH_EXEC or 0) into one word.
 */
#define PX_CALL_AT(call, flags) ((uint32_t)(flags) << 16 | (uint32_t)(call))

/*
 * Return the rows of the wrappers of this process, in the order of their numbers.  A constructor
 * sets this pointer once.  The first call in a stream writes the rows to the stream.
 */
extern const struct px_wrapper_row *(*px_callpoint_rows)(uint32_t *nr_rows)
	__attribute__((visibility("hidden")));

/*
 * A wrapper that can record another call than the one of its row: the wrapper, this call, and the other call.  The
 * first event with the number of the wrapper registers the types of both.  Constructors set these variables once.
 */
struct px_callpoint_also {
	uint16_t wrapper;
	uint16_t call; /* enum px_call */
	uint16_t other;
};

extern const struct px_callpoint_also *px_callpoint_also __attribute__((visibility("hidden")));
extern uint32_t px_callpoint_nr_also __attribute__((visibility("hidden")));

/*
 * Numbers for calls that are recorded without a wrapper.  They follow the numbers of all wrappers.
 * Each of these calls has its own number, because the first call with a number registers the event
 * type of this call, and no other one.
 */
enum px_no_wrapper {
	PX_NO_WRAPPER_FIRST = PX_WRAPPERS_MAX - 18,
	PX_NO_WRAPPER_THREAD_START = PX_NO_WRAPPER_FIRST,
	PX_NO_WRAPPER_THREAD_END,
	PX_NO_WRAPPER_HANDLER_ENTER,
	PX_NO_WRAPPER_HANDLER_EXIT,
	PX_NO_WRAPPER_INNER_UNLOCK, /* the unlock that a wait for a condition contains */
	PX_NO_WRAPPER_INNER_LOCK,
	PX_NO_WRAPPER_NAME,
	PX_NO_WRAPPER_CALLS, /* counts of calls (counted.h) */
	/* system calls that the program makes with syscall() */
	PX_NO_WRAPPER_FUTEX_WAIT,
	PX_NO_WRAPPER_FUTEX_WAKE,
	PX_NO_WRAPPER_FUTEX_WAITV,
	PX_NO_WRAPPER_IO_URING_ENTER,
	PX_NO_WRAPPER_IO_GETEVENTS,
	PX_NO_WRAPPER_PROCESS_START,
	PX_NO_WRAPPER_PROCESS_END,
	PX_NO_WRAPPER_STACK,
	PX_NO_WRAPPER_VFORK_EXEC,
	PX_NO_WRAPPER_THREAD_TIME
};

_Static_assert(PX_NO_WRAPPER_THREAD_TIME < PX_WRAPPERS_MAX, "calls[] of a ring counts these too");

/*
 * Record a call with 16 bytes of data: first and second.
 *
 * If a stream has the attribute `stacks`, the event of a call that has waited is followed by an event txtrace_stack,
 * with the stack of the caller.  It comes after the event, so that the wait in the trace ends when the wait has ended.
 * The stack is in the event, not in a table of the stream: a stream that overwrites its oldest events never keeps an
 * event without its stack, and no table can become full.  (A log has each stack once in each of its chapters,
 * log/frame.h.)
 *
 * If a stream has no scheduling records, though it asked for them, an event txtrace_thread_time follows the event of a
 * call that has waited for at least PX_THREAD_TIME_WAIT_NS: how much CPU time the thread has used up to now.  The
 * kernel brings this time up to date when a thread loses its CPU, as it has just done for the wait.  At the begin of a
 * wait, it may lack all since the last tick of the kernel, so the thread does not ask then.  At its end, a thread asks
 * in a way that takes longer, and gets its time at this moment.
 */
void px_callpoint(uint32_t wrapper, uint32_t call_at, uint64_t first, uint64_t second,
		  void *address);

/* Record a call with length bytes of data: union px_call_data and further fields. */
void px_callpoint_long(uint32_t wrapper, uint32_t call_at, const void *data, size_t length,
		       void *address);

/* If a stream wants times of threads, record that of the calling thread, which is about to end. */
void px_callpoint_thread_time(void *address);

/*
 * px_callpoint_cost() adds a sample of the cost of a wrapper to the statistics of each stream.  The
 * ticks are the difference between two results of px_callpoint_clock(), which returns 0 if this
 * process has no stream.
 */
void px_callpoint_cost(uint32_t wrapper, uint64_t ticks);
uint64_t px_callpoint_clock(void);

#endif
