/* SPDX-License-Identifier: MIT */
/* The trace point: one event into every stream of this process that wants it. */
#ifndef PX_TRACE_TRACEPOINT_H
#define PX_TRACE_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/process.h"

/*
 * Record the event in every stream that traces this process, runs, and does not filter it
 * (EVENT-1).  The gate was found open.  Async-signal-safe, lock-free, no allocation, keeps errno.
 */
void px_tracepoint_event(uint32_t id, const void *data, size_t length, void *address);

/*
 * Record a control event of this thread in one stream, whatever its state, in ring 0, into the
 * space that user events leave free.  Its stamp is in *counter.  False if no slot was to be had,
 * which takes sleepers all over the ring.
 */
bool px_tracepoint_control(const struct px_view *view, const struct px_event *event,
			   uint64_t *counter);

#endif
