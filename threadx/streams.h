/* SPDX-License-Identifier: MIT */
/*
 * The same events in the POSIX streams that trace this process.  An event with an id of ThreadX has a type with its
 * name, such as TX_TRACE_QUEUE_SEND, and the information words are its data.  User events have the types
 * TX_TRACE_USER_EVENT_4096 and so on.  The registration of an object is an event, too: its words name the object that
 * other events show as a handle.
 */
#ifndef PX_THREADX_STREAMS_H
#define PX_THREADX_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>

#include "base/atomic.h"
#include "lock.h"
#include "objects.h"

/* Return true if a stream may trace this process. */
PX_INLINE bool px_tx_is_traced(void)
{
	return px_read_once(__posix_trace_gate) != px_read_once(__posix_trace_gate + 1);
}

/*
 * Record the event in all streams of this process.  Async-signal-safe in an interrupt (tx_trace_isr_enter_insert()):
 * there an event whose type is not open yet gets the type TX_TRACE_EVENT, with the id as its first word.
 */
PX_COLD void px_tx_streams_record(const struct px_tx_event *event);

/* Record that an object was registered, or no longer exists.  Not in an interrupt, and without the lock. */
PX_COLD void px_tx_streams_register(const struct px_tx_object *object);
PX_COLD void px_tx_streams_unregister(uint32_t handle);

/* Open the types that handlers need. */
void px_tx_streams_prepare(void);

#endif
