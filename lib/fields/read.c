/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "fields/data.h"

static double get_double(const struct px_data *data, uint64_t at)
{
	uint64_t number = px_data_bytes(data, at, 8);
	double real;

	memcpy(&real, &number, sizeof(real));
	return real;
}

/* Return the number times a power of two.  (The library needs nothing else of libm.) */
static double scale(double number, int exponent)
{
	const int step = 1000;

	for (; exponent != 0; exponent -= exponent > step ? step : exponent < -step ? -step : exponent) {
		int by = exponent > step ? step : exponent < -step ? -step : exponent;
		uint64_t bits = (uint64_t)(by + 1023) << 52;
		double power;

		memcpy(&power, &bits, sizeof(power));
		number *= power;
	}
	return number;
}

/*
 * Return the number with this exponent and fraction, of which all bits but the first are behind the point.  With all
 * bits of the exponent set, it is infinite, or no number.  So is a number without its first bit, which x86 never
 * writes.
 */
static double make_real(unsigned int sign_and_exponent, uint64_t fraction)
{
	unsigned int exponent = sign_and_exponent & 0x7FFF;
	double real = scale((double)fraction, (int)exponent - 0x3FFF - 63);

	if (exponent == 0x7FFF || (exponent > 0 && fraction >> 63 == 0))
		real = fraction == UINT64_C(1) << 63 ? __builtin_inf() : __builtin_nan("");
	return sign_and_exponent & 0x8000 ? -real : real;
}

/* The format of x86: the bit before the point is in the number. */
static double get_extended(const struct px_data *data, uint64_t at)
{
	return make_real((unsigned int)px_data_bytes(data, at + 8, 2), px_data_bytes(data, at, 8));
}

static double get_quadruple(const struct px_data *data, uint64_t at)
{
	uint64_t high = px_data_bytes(data, at + (data->is_big ? 0 : 8), 8);
	uint64_t low = px_data_bytes(data, at + (data->is_big ? 8 : 0), 8);
	unsigned int exponent = (unsigned int)(high >> 48);
	uint64_t fraction = high << 15 | low >> 49; /* of 112 bits; one more is before the point, but not for 0 */

	fraction &= UINT64_MAX >> 1;
	fraction |= (uint64_t)((exponent & 0x7FFF) > 0) << 63;
	fraction |= low << 15 != 0; /* what is cut off matters when the double is rounded */
	return make_real(exponent, fraction);
}

/* Get a long double.  Return false if its format is not known. */
static bool get_long_double(const struct px_data *data, uint64_t at, double *real)
{
	switch (data->long_double_digits) {
	case 64:
		*real = get_extended(data, at);
		return true;
	case 106: /* the sum of two numbers */
		*real = get_double(data, at) + get_double(data, at + 8);
		return true;
	case 113:
		*real = get_quadruple(data, at);
		return true;
	default:
		return false;
	}
}

static bool get_real(const struct px_data *data, uint64_t at, uint32_t size, double *real)
{
	uint32_t number = (uint32_t)px_data_bytes(data, at, 4);
	float single;

	if (size > 8)
		return get_long_double(data, at, real);
	if (size == 8) {
		*real = get_double(data, at);
		return true;
	}
	memcpy(&single, &number, sizeof(single));
	*real = (double)single;
	return true;
}

static void get_text(const struct px_data *data, uint64_t at, uint64_t size, struct px_field_value *value)
{
	uint64_t there = size;
	const void *end;

	if (at >= data->size)
		there = 0;
	else if (there > data->size - at)
		there = data->size - at;
	value->is_text = true;
	value->text = (const char *)data->bytes + (there ? at : 0);
	end = memchr(value->text, '\0', (size_t)there);
	value->length = end ? (size_t)((const char *)end - value->text) : (size_t)there;
	value->is_cut = !end && there < size;
}

/* Get the element of this field that begins at this bit.  Return false if it is not whole. */
static bool get_value(const struct px_data *data, const struct px_field *field, uint64_t bit,
		      struct px_field_value *value)
{
	uint32_t bits = field->bits ? field->bits : field->size * 8;

	*value = (struct px_field_value){.kind = field->kind};
	if (bit + bits > (uint64_t)data->size * 8)
		return false;
	if (field->kind == PX_FIELD_FLOAT) {
		value->digits = field->size == 4 ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
		return get_real(data, bit / 8, field->size, &value->real);
	}
	value->number = field->bits ? px_data_bits(data, bit, bits) : px_data_bytes(data, bit / 8, field->size);
	value->is_signed = px_field_is_signed(field);
	if (value->is_signed)
		value->number = (uint64_t)px_data_sign(value->number, bits);
	for (const struct px_enum_name *i = field->kind == PX_FIELD_ENUM ? field->names->names : NULL;
	     i && !value->name; i = i->next)
		if ((uint64_t)i->value == value->number)
			value->name = i->name;
	return true;
}

/* Walk. */

struct walk {
	struct px_data data;
	px_fields_visit *visit;
	void *argument;
};

static void walk_struct(const struct walk *walk, const struct px_struct *of, uint64_t bit);

static bool is_there(const struct walk *walk, uint64_t bit)
{
	return bit < (uint64_t)walk->data.size * 8;
}

static void walk_element(const struct walk *walk, const struct px_field *field, uint64_t bit,
			 const char *name)
{
	struct px_field_value value;

	if (field->kind == PX_FIELD_STRUCT) {
		walk->visit(walk->argument, PX_FIELDS_BEGIN_STRUCT, name, NULL);
		walk_struct(walk, field->of, bit);
		walk->visit(walk->argument, PX_FIELDS_END_STRUCT, name, NULL);
	} else if (get_value(&walk->data, field, bit, &value)) {
		walk->visit(walk->argument, PX_FIELDS_VALUE, name, &value);
	}
}

static void walk_array(const struct walk *walk, const struct px_field *field, uint32_t level,
		       uint64_t bit, const char *name)
{
	uint64_t nr = px_data_dimension(&walk->data, field, level, bit), bytes = px_field_stride(field, level);
	struct px_field_value value = {.kind = PX_FIELD_CHAR};

	if (px_field_is_text_at(field, level)) {
		get_text(&walk->data, bit / 8, nr, &value);
		walk->visit(walk->argument, PX_FIELDS_VALUE, name, &value);
		return;
	}
	walk->visit(walk->argument, PX_FIELDS_BEGIN_ARRAY, name, NULL);
	for (uint64_t i = 0; i < nr && is_there(walk, bit + i * bytes * 8); i++) {
		if (level + 1 < field->nr_dims && level + 1 < PX_FIELDS_DIMS) /* as in convert_array() */
			walk_array(walk, field, level + 1, bit + i * bytes * 8, NULL);
		else
			walk_element(walk, field, bit + i * bytes * 8, NULL);
	}
	walk->visit(walk->argument, PX_FIELDS_END_ARRAY, name, NULL);
}

static void walk_struct(const struct walk *walk, const struct px_struct *of, uint64_t bit)
{
	for (const struct px_field *i = of->first; i; i = i->next) {
		uint64_t at = bit + i->bit;

		/* The rest of the data may be empty, if all fields before it are there. */
		if (i->is_rest ? at > (uint64_t)walk->data.size * 8 : !is_there(walk, at))
			continue;
		if (!i->name)
			walk_struct(walk, i->of, at);
		else if (i->nr_dims > 0)
			walk_array(walk, i, 0, at, i->name);
		else
			walk_element(walk, i, at, i->name);
	}
}

size_t px_fields_walk(const struct px_fields *fields, const unsigned char *data, size_t size,
		      px_fields_visit *visit, void *argument)
{
	const struct walk walk = {.data = {data, size, fields->is_big, fields->long_double_digits},
				  .visit = visit,
				  .argument = argument};
	const struct px_struct *top = fields->top;

	if (!top)
		return 0;
	walk_struct(&walk, top, 0);
	return top->last->is_rest && top->size < size ? size : top->size;
}

/* Paths. */

static const struct px_field *member_of(const struct px_struct *of, const char *name, size_t length,
					uint64_t *bit)
{
	for (const struct px_field *i = of->first; i; i = i->next) {
		const struct px_field *inner;
		uint64_t at = *bit + i->bit;

		if (i->name && strlen(i->name) == length && memcmp(i->name, name, length) == 0) {
			*bit = at;
			return i;
		}
		inner = i->name ? NULL : member_of(i->of, name, length, &at);
		if (inner) {
			*bit = at;
			return inner;
		}
	}
	return NULL;
}

/* Read the indexes of an array.  Return false if they are wrong. */
static bool take_indexes(const struct px_field *field, const char **at, uint64_t *bit, uint32_t *level)
{
	*level = 0;
	while (**at == '[') {
		unsigned long long index;
		char *end;

		if ((*at)[1] < '0' || (*at)[1] > '9' || *level == field->nr_dims)
			return false;
		index = strtoull(*at + 1, &end, 10);
		if (*end != ']' || index >= PX_FIELDS_SIZE_MAX ||
		    (!field->is_rest && index >= field->dim[*level]))
			return false;
		*bit += index * px_field_stride(field, *level) * 8;
		*at = end + 1;
		(*level)++;
	}
	return true;
}

bool px_fields_find(const struct px_fields *fields, const char *path, struct px_field_place *place)
{
	const struct px_struct *of = fields->top;
	uint64_t bit = 0;

	while (of) {
		size_t length = strcspn(path, ".[");
		const struct px_field *field = member_of(of, path, length, &bit);
		uint32_t level;

		if (!field)
			return false;
		path += length;
		if (!take_indexes(field, &path, &bit, &level))
			return false;
		if (*path == '\0') {
			*place = (struct px_field_place){field, bit, px_field_is_text_at(field, level)};
			return level == field->nr_dims ? field->kind != PX_FIELD_STRUCT : place->is_text;
		}
		if (*path != '.' || level != field->nr_dims)
			return false;
		path++;
		of = field->of;
	}
	return false;
}

bool px_fields_get(const struct px_fields *fields, const struct px_field_place *place,
		   const unsigned char *data, size_t size, struct px_field_value *value)
{
	const struct px_data all = {data, size, fields->is_big, fields->long_double_digits};
	const struct px_field *field = place->field;
	uint32_t level = field->nr_dims ? field->nr_dims - 1 : 0;

	if (!place->is_text)
		return get_value(&all, field, place->bit, value);
	if (field->is_rest ? place->bit / 8 > size : place->bit / 8 >= size)
		return false;
	*value = (struct px_field_value){.kind = PX_FIELD_CHAR};
	get_text(&all, place->bit / 8, px_data_dimension(&all, field, level, place->bit), value);
	return true;
}

bool px_fields_enum_number(const struct px_enum *names, const char *name, int64_t *number)
{
	for (const struct px_enum_name *i = names->names; i; i = i->next) {
		if (strcmp(i->name, name) != 0)
			continue;
		*number = i->value;
		return true;
	}
	return false;
}
