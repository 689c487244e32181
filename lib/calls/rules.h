/* SPDX-License-Identifier: MIT */
/*
 * Which native event a call is: what calls.def says of it, and what depends on the object.  Rules alone; nothing is
 * remembered from one call to the next.
 */
#ifndef PX_CALLS_RULES_H
#define PX_CALLS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "event/calls.h"

/* Native ids that mean more than their words. */
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

/* Sets the native event of a call whose object has been found. */
void px_rules_convert(struct px_call_read *call);

/* True if its object begins with it, or ends. */
bool px_rules_is_creation(uint32_t native);
bool px_rules_is_end(uint32_t native);

/*
 * What ThreadX records before it knows how it ends stays what it is; all else that fails has changed nothing, and is no
 * native event.
 */
bool px_rules_is_attempt(uint32_t native);

/* Which word of the own entry of this call, with this native id, is the object's handle; 4: none. */
unsigned int px_rules_object_word(enum px_call call, unsigned int native);

#endif
