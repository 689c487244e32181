/* SPDX-License-Identifier: MIT */
/*
 * Find the native event of a call from calls.def and the type of the object.  This module keeps no
 * state between calls.
 */
#ifndef PX_CALLS_RULES_H
#define PX_CALLS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "event/calls.h"

/* Native ids that the code treats specially. */
enum {
	PX_NATIVE_RESUME = 1,
	PX_NATIVE_SUSPEND = 2,
	PX_NATIVE_ISR_ENTER = 3,
	PX_NATIVE_ISR_EXIT = 4,
	PX_NATIVE_EVENT_FLAGS_GET = 32,
	PX_NATIVE_EVENT_FLAGS_SET = 36,
	PX_NATIVE_MUTEX_GET = 52,
	PX_NATIVE_MUTEX_PUT = 57,
	PX_NATIVE_QUEUE_RECEIVE = 68,
	PX_NATIVE_QUEUE_SEND = 69,
	PX_NATIVE_SEMAPHORE_GET = 83,
	PX_NATIVE_SEMAPHORE_PUT = 88,
	PX_NATIVE_THREAD_CREATE = 100
};

/*
 * Change the native event of a call if the type of its object requires this.  Call it after
 * px_resolve_find().
 */
void px_rules_convert(struct px_call_read *call);

/*
 * px_rules_is_creation() returns true if this event creates its object, and px_rules_is_end() if
 * this event ends its object.
 */
bool px_rules_is_creation(uint32_t native);
bool px_rules_is_end(uint32_t native);

/*
 * Return true if ThreadX records this event before it knows the result.  A failed call with such an event keeps the
 * event.  Any other failed call has changed nothing, so it gets no native event.
 */
bool px_rules_is_attempt(uint32_t native);

/*
 * The own entry of this call is an event with this native id.  Return the index of the information word that holds the
 * object's handle.  Return 4 if no word holds it.
 */
unsigned int px_rules_object_word(enum px_call call, unsigned int native);

#endif
