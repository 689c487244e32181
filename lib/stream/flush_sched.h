/* SPDX-License-Identifier: MIT */
/*
 * Scheduling records in a flush.  The flush appends each event of the rings after all records that are not later.  It
 * waits until the records up to this time are known: see PX_SCHED_DELAY_NS.  So the two sources are in one order.
 *
 * Two clocks meet here.  An event of a ring has the time of the counter, which the timeline converts to CLOCK_MONOTONIC
 * with an error of at most 100 ns at each anchor (clock.h).  A record has CLOCK_MONOTONIC itself, to a few nanoseconds.
 * Between the counter of an event and the record of a switch of its thread, the kernel needs several hundred
 * nanoseconds: it enters or leaves the kernel, and chooses a thread.  So the order of the two is right.
 *
 * The thread that flushes calls these functions.  Without scheduling records they do nothing.
 */
#ifndef PX_STREAM_FLUSH_SCHED_H
#define PX_STREAM_FLUSH_SCHED_H

#include "stream/stream.h"

/*
 * Append the scheduling records that come before this event to the log, and then the event; NULL: only the records
 * that are complete.  If the log needs a write first, return PX_LOG_WRITE_FIRST.  The next call continues.
 */
enum px_log_room px_flush_sched_append(struct px_stream *stream, const struct px_report *report);

/* Copy the records of the kernel, and take an anchor of the clock.  The caller holds the lock of the stream. */
void px_flush_sched_collect(struct px_stream *stream);

/* Return true if so many records wait, or wait so long, that a flush is due. */
bool px_flush_sched_is_due(const struct px_stream *stream, uint64_t age_ns);

/* Append SCHED_STOP to the log of a dead controller.  Return PX_LOG_TAKEN also if nothing is to append. */
enum px_log_room px_flush_sched_end_dead(struct px_stream *stream);

#endif
