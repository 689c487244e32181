/* SPDX-License-Identifier: MIT */
/* The fields of system events and of calls as descriptions (fields/fields.h), which readers parse. */
#ifndef PX_EVENT_CALL_FIELDS_H
#define PX_EVENT_CALL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "event/calls.h"

#define PX_CALL_FIELDS_MAX 255

/*
 * Write the description of the data of a call, in the short form, with addresses of 8 bytes, and with a null byte at
 * its end.  Return its length; 0: the call has no data with a meaning.
 */
size_t px_call_fields(enum px_call call, char text[PX_CALL_FIELDS_MAX + 1]);

/* Return the description of the data of a system event, or NULL. */
const char *px_system_fields(unsigned int id);

#endif
