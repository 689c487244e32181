/* SPDX-License-Identifier: MIT */
#include "fields/convert.h"

#include <string.h>

#include "fields/data.h"

/* The digits of a long double tell its format. */
#define DIGITS_EXTENDED 64 /* x86: ten bytes, and bytes without a meaning */
#define DIGITS_PAIR 106	   /* two doubles */

/* What is possible. */

struct kinds {
	const struct px_fields *from, *to;
	bool is_swapped;
};

static enum px_conversion worse(enum px_conversion a, enum px_conversion b)
{
	return a > b ? a : b;
}

static enum px_conversion compare_numbers(const struct kinds *kinds, const struct px_field *from,
					  const struct px_field *to)
{
	const bool is_long = from->kind == PX_FIELD_FLOAT && (from->size > 8 || to->size > 8);

	if (is_long && kinds->from->long_double_digits != kinds->to->long_double_digits)
		return PX_CONVERSION_IMPOSSIBLE;
	if (is_long && kinds->from->long_double_digits == 0)
		return PX_CONVERSION_IMPOSSIBLE;
	if (to->size < from->size && !is_long)
		return PX_CONVERSION_IMPOSSIBLE;
	if (kinds->is_swapped && (from->size > 1 || from->bits != 0))
		return PX_CONVERSION_EXACT;
	return from->size == to->size ? PX_CONVERSION_NONE : PX_CONVERSION_EXACT;
}

/* The members of a union share their bytes.  So all of them must stay as they are. */
static enum px_conversion compare_structs(const struct kinds *kinds, const struct px_struct *from,
					  const struct px_struct *to)
{
	enum px_conversion conversion = from->size == to->size ? PX_CONVERSION_NONE :
								 PX_CONVERSION_EXACT;
	const struct px_field *i = from->first, *k = to->first;

	for (; i && k; i = i->next, k = k->next) {
		if (i->bit != k->bit)
			conversion = worse(conversion, PX_CONVERSION_EXACT);
		conversion = worse(conversion, i->kind == PX_FIELD_STRUCT ?
						       compare_structs(kinds, i->of, k->of) :
						       compare_numbers(kinds, i, k));
	}
	return from->is_union && conversion != PX_CONVERSION_NONE ? PX_CONVERSION_IMPOSSIBLE :
								    conversion;
}

enum px_conversion px_fields_conversion(const struct px_fields *from, const struct px_fields *to)
{
	const struct kinds kinds = {from, to, from->is_big != to->is_big};

	return from->top && to->top ? compare_structs(&kinds, from->top, to->top) :
				      PX_CONVERSION_IMPOSSIBLE;
}

/* The conversion. */

struct conversion {
	struct px_data from;
	unsigned char *to;
	size_t room, end; /* the bytes that there may be, and those that there are */
	bool is_big;
};

static bool is_room(struct conversion *conversion, uint64_t at, uint64_t size)
{
	if (at + size > conversion->room)
		return false;
	if (at + size > conversion->end)
		conversion->end = (size_t)(at + size);
	return true;
}

static void put_bytes(const struct conversion *conversion, uint64_t at, uint32_t size,
		      uint64_t number)
{
	for (uint32_t i = 0; i < size; i++) {
		conversion->to[at + (conversion->is_big ? size - 1 - i : i)] =
			(unsigned char)(i < 8 ? number : 0);
		number = i < 8 ? number >> 8 : 0;
	}
}

/* As px_data_bits() reads them. */
static void put_bits(const struct conversion *conversion, uint64_t bit, uint32_t nr,
		     uint64_t number)
{
	for (uint32_t i = 0; i < nr; i++, bit++) {
		const unsigned int value =
			(unsigned int)(number >> (conversion->is_big ? nr - 1 - i : i)) & 1;
		const unsigned int place = (unsigned int)(conversion->is_big ? 7 - bit % 8 :
									       bit % 8);

		conversion->to[bit / 8] =
			(unsigned char)((conversion->to[bit / 8] & ~(1u << place)) |
					value << place);
	}
}

static void copy_long_double(const struct conversion *conversion, uint64_t from, uint64_t to)
{
	const unsigned int digits = conversion->from.long_double_digits;

	if (digits == DIGITS_EXTENDED) {
		memcpy(conversion->to + to, conversion->from.bytes + from, 10);
		return;
	}
	for (unsigned int i = 0; i < 2; i++) {
		/* A pair begins with the same number in both orders; another format is one long number. */
		const unsigned int k = digits == DIGITS_PAIR || conversion->from.is_big ==
									conversion->is_big ?
					       i :
					       1 - i;

		put_bytes(conversion, to + 8 * k, 8,
			  px_data_bytes(&conversion->from, from + 8 * i, 8));
	}
}

static void convert_value(struct conversion *conversion, const struct px_field *from,
			  const struct px_field *to, uint64_t from_bit, uint64_t to_bit)
{
	const uint32_t bits = from->bits ? from->bits : from->size * 8,
		       to_bits = to->bits ? to->bits : to->size * 8;
	uint64_t number;

	if (from_bit + bits > (uint64_t)conversion->from.size * 8 ||
	    !is_room(conversion, to_bit / 8, (to_bit % 8 + to_bits + 7) / 8))
		return;
	if (from->size > 8) {
		copy_long_double(conversion, from_bit / 8, to_bit / 8);
		return;
	}
	if (from->bits) {
		put_bits(conversion, to_bit, bits, px_data_bits(&conversion->from, from_bit, bits));
		return;
	}
	number = px_data_bytes(&conversion->from, from_bit / 8, from->size);
	if (px_field_is_signed(from))
		number = (uint64_t)px_data_sign(number, bits);
	put_bytes(conversion, to_bit / 8, to->size, number);
}

static void convert_struct(struct conversion *conversion, const struct px_struct *from,
			   const struct px_struct *to, uint64_t from_bit, uint64_t to_bit);

static void convert_text(struct conversion *conversion, uint64_t size, uint64_t from, uint64_t to)
{
	uint64_t there = from < conversion->from.size ? conversion->from.size - from : 0;

	there = there < size ? there : size;
	if (there > 0 && is_room(conversion, to, there))
		memcpy(conversion->to + to, conversion->from.bytes + from, (size_t)there);
}

static void convert_element(struct conversion *conversion, const struct px_field *from,
			    const struct px_field *to, uint64_t from_bit, uint64_t to_bit)
{
	if (from->kind == PX_FIELD_STRUCT)
		convert_struct(conversion, from->of, to->of, from_bit, to_bit);
	else
		convert_value(conversion, from, to, from_bit, to_bit);
}

static void convert_array(struct conversion *conversion, const struct px_field *from,
			  const struct px_field *to, uint32_t level, uint64_t from_bit,
			  uint64_t to_bit)
{
	const uint64_t nr = px_data_dimension(&conversion->from, from, level, from_bit);
	const uint64_t from_bytes = px_field_stride(from, level),
		       to_bytes = px_field_stride(to, level);

	if (px_field_is_text_at(from, level)) {
		convert_text(conversion, nr, from_bit / 8, to_bit / 8);
		return;
	}
	for (uint64_t i = 0;
	     i < nr && from_bit + i * from_bytes * 8 < (uint64_t)conversion->from.size * 8; i++) {
		const uint64_t from_at = from_bit + i * from_bytes * 8,
			       to_at = to_bit + i * to_bytes * 8;

		/* nr_dims is at most PX_FIELDS_DIMS: the compiler does not know, and warns with -O3. */
		if (level + 1 < from->nr_dims && level + 1 < PX_FIELDS_DIMS)
			convert_array(conversion, from, to, level + 1, from_at, to_at);
		else
			convert_element(conversion, from, to, from_at, to_at);
	}
}

static void convert_struct(struct conversion *conversion, const struct px_struct *from,
			   const struct px_struct *to, uint64_t from_bit, uint64_t to_bit)
{
	const struct px_field *i = from->first, *k = to->first;

	for (; i && k; i = i->next, k = k->next) {
		if (i->nr_dims > 0)
			convert_array(conversion, i, k, 0, from_bit + i->bit, to_bit + k->bit);
		else
			convert_element(conversion, i, k, from_bit + i->bit, to_bit + k->bit);
	}
}

/* Return the bytes of the data without a rest. */
static size_t fixed_size(const struct px_struct *top)
{
	return top->last->is_rest ? top->last->bit / 8 : top->size;
}

size_t px_fields_convert(const struct px_fields *from, const struct px_fields *to,
			 const unsigned char *data, size_t size, unsigned char *converted,
			 size_t room)
{
	const struct px_struct *top = from->top;
	const size_t bound = px_fields_convert_bound(size);
	struct conversion conversion = {
		.from = {data, size, from->is_big, from->long_double_digits},
		.to = converted,
		.room = room < bound ? room : bound,
		.is_big = to->is_big};

	memset(converted, 0, conversion.room);
	convert_struct(&conversion, top, to->top, 0, 0);
	/* What fills the last word of a type, or the place before its rest, has no value. */
	if (size >= fixed_size(top) && is_room(&conversion, 0, fixed_size(to->top)) &&
	    !top->last->is_rest)
		convert_text(&conversion, size - top->size, top->size, to->top->size);
	return conversion.end;
}

/* A number at most doubles, and so does what fills the place before it. */
size_t px_fields_convert_bound(size_t size)
{
	return 4 * size + 16;
}
