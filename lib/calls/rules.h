/* SPDX-License-Identifier: MIT */
/*
 * Map a call to a native event, by calls.def and the type of the object.  No state is kept between
 * calls.
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

/* Set the native event of a call after its object was found. */
void px_rules_convert(struct px_call_read *call);

/* Return true if this event creates or ends its object. */
bool px_rules_is_creation(uint32_t native);
bool px_rules_is_end(uint32_t native);

/*
 * Return true if ThreadX records this event before the result is known.  Such a call keeps its
 * native event even if it fails.  Any other failed call has changed nothing and gets no native
 * event.
 */
bool px_rules_is_attempt(uint32_t native);

/*
 * Return the index of the object's handle among the words of the own entry of this call with this
 * native id, or 4 if there is none.
 */
unsigned int px_rules_object_word(enum px_call call, unsigned int native);

#endif
