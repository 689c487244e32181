/* SPDX-License-Identifier: MIT */
/* The trace point: record one event in every stream of this process that wants it. */
#ifndef PX_TRACE_TRACEPOINT_H
#define PX_TRACE_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/process.h"

/*
 * Record the event in every stream that traces this process, runs, and does not filter the event
 * (EVENT-1).  The caller must first check that the gate is open.  Async-signal-safe, lock-free, no
 * allocation, keeps errno.
 */
void px_tracepoint_event(uint32_t id, const void *data, size_t length, void *address);

/*
 * Record a control event of this thread in ring 0 of one stream, in any state of the stream.  The
 * event may use the room that user events must leave free.  Store its counter in *counter.  Return
 * false if there is no room, or if preempted threads hold the slots at each of PX_EMIT_ATTEMPTS
 * attempts.
 */
bool px_tracepoint_control(const struct px_view *view, const struct px_event *event,
			   uint64_t *counter);

#endif
