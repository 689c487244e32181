/* SPDX-License-Identifier: MIT */
/*
 * The fields of described event types in the Common Trace Format: integers, real numbers, enumerations, strings, arrays
 * and structures.  CTF 1.8 has no boolean: it is an enumeration.  A union is a structure with all its members.
 */
#ifndef TXTRACE_EXPORT_CTF_FIELDS_H
#define TXTRACE_EXPORT_CTF_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include <stddef.h>

#include "../lib/fields/fields.h"

/* The data that the fields are filled from: whole, or longer than the type. */
struct ctf_data {
	const struct px_fields *fields;
	const unsigned char *bytes;
	size_t size;
};

/* Return how many bytes the type takes of so many.  If it takes more than there are, the data have not all fields. */
size_t ctf_fields_size(const struct px_fields *fields, size_t size);

/* Add the members to a structure class. */
void ctf_fields_add(bt_trace_class *trace_class, bt_field_class *payload, const struct px_fields *fields);

/* Fill in the members, the first of which has the index 0. */
void ctf_fields_fill(bt_field *payload, const struct ctf_data *data);

#endif
