/* SPDX-License-Identifier: MIT */
/*
 * One call on its way through the translator.  Each part adds what it finds out, in this order, and looks only at what
 * stands ahead of that.
 */
#ifndef PX_CALLS_CALL_H
#define PX_CALLS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/entries.h"
#include "calls/objects.h"
#include "event/calls.h"
#include "ring/record.h"

struct px_call_read {
	/* translate.c: what is read, and where what is shown goes. */
	const struct px_record *record;
	const void *data; /* length bytes */
	size_t length;
	struct px_translation *to;
	union px_call_data first;
	enum px_call call;
	const struct px_call_facts *facts;
	bool begins, ends, has_failed;

	/* resolve.h: whose call it is, and what it is about; NULL for none. */
	struct px_call_object *self, *object;

	/* rules.h: the native event; until it is known what the object is, that of the facts. */
	uint32_t native;
	const uint8_t *info;

	/* wakers.h: its thread slept, as far as was known, when this was read. */
	bool was_suspended;
};

/* The field `value` of its layout. */
PX_INLINE uint32_t px_call_read_value(const struct px_call_read *call)
{
	return call->facts->layout == PX_LAYOUT_FD ? call->first.of_fd.value :
						     call->first.of_object.value;
}

#endif
