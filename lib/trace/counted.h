/* SPDX-License-Identifier: MIT */
/*
 * Calls that are counted instead of recorded (txtrace_attr_setaggregation()).
 *
 * A program may lock millions of times a second without ever waiting.  An event for each of these calls costs more than
 * the calls, and fills rings and logs.  A stream may ask for counts instead: for each thread, call, object and result,
 * the number of calls, and the times of the first and the last one.  What is not a plain number of equal calls stays an
 * event.  So a call is recorded, and not counted, if
 *
 *	- it waits, or ends a wait
 *	- it is not in the list of calls.def: the call can wake up other threads, or makes or ends an object
 *	- it failed for another reason than that it would have had to wait (EBUSY)
 *	- it gives back a lock for which another thread waits.  So each end of a wait has its waker
 *	- the thread has the lock by a recorded call.  Then all its calls with this lock are recorded until it has given
 *	  the lock back.  So each hold in a trace has its true end
 *	- the table of the thread has no room for it
 *
 * The counts are in a table of the thread, in private memory.  Only the thread adds to it, so it needs no lock and no
 * locked instruction.  From time to time the thread records the counts: an event txtrace_calls for each entry (struct
 * px_call_counted).  It does so after PX_COUNTED_PERIOD_NS if an entry has at least PX_COUNTED_FEW calls, and after
 * PX_COUNTED_PERIODS such periods in any case.  It also looks at the period before it waits.  Before a call makes or
 * ends an object, its thread records the counts that all threads have for this object.  When a thread ends, it records
 * all its counts.  When the process ends, the thread that ends it records the counts of all threads.  If the process is
 * killed, or the recording of a running process ends, the counts since the last time are lost.  The wrapper statistics
 * have these calls, too, because they count each call at once.
 *
 * An entry has the number of all its calls, and the number of the calls that are already in an event.  Only the thread
 * of the entry changes the first number.  A thread that records the entry exchanges the second one.  So two threads may
 * record the same entry at the same time, and each call is in one event.
 *
 * A call in a signal handler that interrupts another call is always recorded.  So no handler changes a table while its
 * thread does.  A child by fork() begins with empty tables.  All functions are async-signal-safe and lock-free, and
 * allocate nothing.
 */
#ifndef PX_TRACE_COUNTED_H
#define PX_TRACE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "event/calls.h"
#include "ring/segment.h"

#define PX_COUNTED_ENTRIES 128	  /* of one thread */
#define PX_COUNTED_THREADS 256	  /* other threads record all calls */
#define PX_COUNTED_PERIOD_NS 10000000 /* a little more or less: see px_clock_shift() */
#define PX_COUNTED_PERIODS 100
#define PX_COUNTED_FEW 8

enum px_counted_verdict {
	PX_COUNTED_IS_DONE = 1, /* the call was counted; do not record it */
	PX_COUNTED_IS_DUE = 2,	/* call px_counted_record() when the call has ended (px_calls_end()) */
	PX_COUNTED_IS_CHANGING = 4 /* then call px_counted_record_object(), and record the call after that */
};

/*
 * Count a call of 16 bytes of data, if it is to be counted in this stream.  Return a sum of enum px_counted_verdict.
 * The caller has begun its call with px_calls_begin().
 */
unsigned int px_counted_call(const struct px_view *view, uint32_t call_at, uint64_t first, uint64_t second,
			     void *address);

/* Record the counts of this thread that are due. */
void px_counted_record(void);

/* The call makes or ends this object: record the counts that all threads have for it. */
void px_counted_record_object(uint64_t object);

/* The thread ends: record its counts, and free its table. */
void px_counted_end_thread(void);

/* The process ends, or executes another program: record the counts of all threads.  From now on, record all calls. */
void px_counted_end_process(void);

/* The process did not end, because exec failed. */
void px_counted_resume(void);

#endif
