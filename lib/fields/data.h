/* SPDX-License-Identifier: MIT */
/* Numbers in the data that a description describes.  Only the files of this folder use this. */
#ifndef PX_FIELDS_DATA_H
#define PX_FIELDS_DATA_H

#include "fields/fields.h"

struct px_data {
	const unsigned char *bytes;
	size_t size;
	bool is_big;
	unsigned int long_double_digits;
};

/* Return the bits as a number; the first one is the lowest, or the highest if is_big. */
static inline uint64_t px_data_bits(const struct px_data *data, uint64_t bit, uint32_t nr)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < nr; i++, bit++) {
		unsigned int byte = data->bytes[bit / 8];

		if (data->is_big)
			number = number << 1 | (byte >> (7 - bit % 8) & 1);
		else
			number |= (uint64_t)(byte >> bit % 8 & 1) << i;
	}
	return number;
}

static inline uint64_t px_data_bytes(const struct px_data *data, uint64_t at, uint32_t size)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < size && i < 8; i++)
		number = number << 8 | data->bytes[at + (data->is_big ? i : size - 1 - i)];
	return number;
}

static inline bool px_field_is_text_at(const struct px_field *field, uint32_t level)
{
	return field->kind == PX_FIELD_CHAR && level + 1 == field->nr_dims;
}

/* Return the number of elements in this dimension.  An open one has as many as the data have whole. */
static inline uint64_t px_data_dimension(const struct px_data *data, const struct px_field *field,
					 uint32_t level, uint64_t bit)
{
	uint64_t rest = bit / 8 < data->size ? data->size - bit / 8 : 0;

	return field->is_rest ? rest / field->size : field->dim[level];
}

/* Return the bytes of an element of this dimension. */
static inline uint64_t px_field_stride(const struct px_field *field, uint32_t level)
{
	uint64_t bytes = field->size;

	/* As in convert_array(). */
	for (uint32_t i = level + 1; i < field->nr_dims && i < PX_FIELDS_DIMS; i++)
		bytes *= field->dim[i];
	return bytes;
}

static inline int64_t px_data_sign(uint64_t number, uint32_t bits)
{
	return (int64_t)(number << (64 - bits)) >> (64 - bits);
}

static inline bool px_field_is_signed(const struct px_field *field)
{
	return field->kind == PX_FIELD_SIGNED ||
	       (field->kind == PX_FIELD_ENUM && field->names->is_signed);
}

#endif
