/* SPDX-License-Identifier: MIT */
/*
 * Data that a machine of one kind recorded, as a machine of another kind would have recorded them.  Both kinds parse
 * the same description (fields.h), and all functions take what each has made of it: `from` and `to`.
 */
#ifndef PX_FIELDS_CONVERT_H
#define PX_FIELDS_CONVERT_H

#include "fields/fields.h"

enum px_conversion {
	PX_CONVERSION_NONE,  /* both have the same data */
	PX_CONVERSION_EXACT, /* px_fields_convert() makes them, and each value stays what it is */
	PX_CONVERSION_IMPOSSIBLE /* a value may not fit, or members of a union share it, or the layout is not known */
};

enum px_conversion px_fields_conversion(const struct px_fields *from, const struct px_fields *to);

/*
 * Convert `size` bytes into at most `room` bytes, and return how many these are.  Not with PX_CONVERSION_IMPOSSIBLE.
 * Values that the data have not whole are left out, and the beginning of a text is there; what follows the data of the
 * type stays as it is.
 */
size_t px_fields_convert(const struct px_fields *from, const struct px_fields *to,
			 const unsigned char *data, size_t size, unsigned char *converted,
			 size_t room);

/* Return the number of bytes that no conversion of `size` bytes exceeds. */
size_t px_fields_convert_bound(size_t size);

#endif
