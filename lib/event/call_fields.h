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

/* A field of a call. */
struct px_call_field {
	const char *name; /* '-': the call does not use it */
	size_t name_length;
	char kind;	    /* see calls.h */
	unsigned int bytes; /* of the field, or of an element of one that goes to the end of the data */
	bool is_rest;	    /* it goes to the end of the data */
};

/*
 * Get field number i of a call.  *place: where the last call of this function got to; NULL for the first field.  Return
 * false after the last field.
 */
bool px_call_next_field(enum px_call call, unsigned int i, const char **place, struct px_call_field *field);

/* Return the description of the data of a system event, or NULL. */
const char *px_system_fields(unsigned int id);

#endif
