/* SPDX-License-Identifier: MIT */
/*
 * The state of a call during its translation.  Several modules work on it, one after the other.  The members are in the
 * order of the modules.  Each module sets its own members.  A module reads only its own members and those of earlier
 * modules.
 */
#ifndef PX_CALLS_CALL_H
#define PX_CALLS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "calls/entries.h"
#include "calls/objects.h"
#include "event/calls.h"
#include "ring/record.h"

struct px_call_read {
	/* translate.c: the record, and the translation to which the modules add entries. */
	const struct px_record *record;
	const void *data; /* data of the record: length bytes */
	size_t length;
	struct px_translation *to;
	union px_call_data first;
	enum px_call call;
	const struct px_call_facts *facts;
	bool begins, ends, has_failed;

	/* resolve.h: the calling thread, and the object of the call (NULL: the call has none). */
	struct px_call_object *self, *object;
	uint32_t fd_pid; /* whose descriptors the call has: the process, or PX_VFORK_CHILD */

	/* rules.h: the native event.  Before px_rules_convert() it is the event from calls.def. */
	uint32_t native;
	const uint8_t *info;

	/*
	 * wakers.h: true if the thread was suspended before this record, as far as the trace shows.
	 */
	bool was_suspended;
};

/* Return the text after the first 16 bytes of data, or NULL if there is none. */
PX_INLINE const char *px_call_read_text(const struct px_call_read *call, size_t *length)
{
	const char *text = (const char *)call->data + sizeof(call->first);

	*length = strnlen(text, call->length - sizeof(call->first));
	return *length > 0 ? text : NULL;
}

/* Return the field `value` in the data of the call. */
PX_INLINE uint32_t px_call_read_value(const struct px_call_read *call)
{
	return call->facts->layout == PX_LAYOUT_FD ? call->first.of_fd.value :
						     call->first.of_object.value;
}

#endif
