/* SPDX-License-Identifier: MIT */
#include "export/ctf_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "export/ctf_events.h"

#define SHORT_TEXT 63 /* bytes of a text that needs no memory of its own */

size_t ctf_fields_size(const struct px_fields *fields, size_t size)
{
	bool takes_all = fields->top->last->is_rest && fields->top->size < size;

	return takes_all ? size : fields->top->size;
}

/* Classes. */

static void add_structure(bt_trace_class *trace_class, bt_field_class *to, const struct px_struct *of);

static bt_field_class *integer_class(bt_trace_class *trace_class, uint64_t bits, bool is_signed)
{
	bt_field_class *class = must(is_signed ? bt_field_class_integer_signed_create(trace_class) :
						 bt_field_class_integer_unsigned_create(trace_class));

	bt_field_class_integer_set_field_value_range(class, bits);
	return class;
}

static void map_unsigned(bt_field_class *class, const char *label, uint64_t number)
{
	bt_integer_range_set_unsigned *ranges = must(bt_integer_range_set_unsigned_create());

	ctf_must_be_zero(bt_integer_range_set_unsigned_add_range(ranges, number, number));
	ctf_must_be_zero(bt_field_class_enumeration_unsigned_add_mapping(class, label, ranges));
	bt_integer_range_set_unsigned_put_ref(ranges);
}

static void map_signed(bt_field_class *class, const char *label, int64_t number)
{
	bt_integer_range_set_signed *ranges = must(bt_integer_range_set_signed_create());

	ctf_must_be_zero(bt_integer_range_set_signed_add_range(ranges, number, number));
	ctf_must_be_zero(bt_field_class_enumeration_signed_add_mapping(class, label, ranges));
	bt_integer_range_set_signed_put_ref(ranges);
}

static bool is_repeated(const struct px_enum *names, const struct px_enum_name *name)
{
	const struct px_enum_name *i = names->names;

	while (i != name && strcmp(i->name, name->name) != 0)
		i = i->next;
	return i != name;
}

static bt_field_class *enum_class(bt_trace_class *trace_class, const struct px_enum *names, uint64_t bits)
{
	bt_field_class *class = must(names->is_signed ? bt_field_class_enumeration_signed_create(trace_class) :
							bt_field_class_enumeration_unsigned_create(trace_class));

	bt_field_class_integer_set_field_value_range(class, bits);
	for (const struct px_enum_name *i = names->names; i; i = i->next) {
		if (is_repeated(names, i))
			continue;
		if (names->is_signed)
			map_signed(class, i->name, i->value);
		else
			map_unsigned(class, i->name, (uint64_t)i->value);
	}
	return class;
}

static bt_field_class *bool_class(bt_trace_class *trace_class)
{
	bt_field_class *class = must(bt_field_class_enumeration_unsigned_create(trace_class));

	bt_field_class_integer_set_field_value_range(class, 8);
	map_unsigned(class, "false", 0);
	map_unsigned(class, "true", 1);
	return class;
}

static bt_field_class *element_class(bt_trace_class *trace_class, const struct px_field *field)
{
	uint64_t bits = field->bits ? field->bits : (uint64_t)field->size * 8;
	bt_field_class *class;

	switch (field->kind) {
	case PX_FIELD_FLOAT:
		return must(field->size == 4 ? bt_field_class_real_single_precision_create(trace_class) :
					       bt_field_class_real_double_precision_create(trace_class));
	case PX_FIELD_BOOL:
		return bool_class(trace_class);
	case PX_FIELD_CHAR:
		return must(bt_field_class_string_create(trace_class));
	case PX_FIELD_ENUM:
		return enum_class(trace_class, field->names, bits);
	case PX_FIELD_STRUCT:
		class = must(bt_field_class_structure_create(trace_class));
		add_structure(trace_class, class, field->of);
		return class;
	case PX_FIELD_POINTER:
		class = integer_class(trace_class, bits, false);
		bt_field_class_integer_set_preferred_display_base(
			class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
		return class;
	default:
		return integer_class(trace_class, bits, field->kind == PX_FIELD_SIGNED);
	}
}

/* Return how many dimensions are arrays: the last one of an array of characters is a string. */
static uint32_t nr_arrays(const struct px_field *field)
{
	return field->kind == PX_FIELD_CHAR && field->nr_dims > 0 ? field->nr_dims - 1 : field->nr_dims;
}

static bt_field_class *member_class(bt_trace_class *trace_class, const struct px_field *field)
{
	bt_field_class *class = element_class(trace_class, field);

	for (uint32_t i = nr_arrays(field); i > 0; i--) {
		bt_field_class *array =
			must(field->is_rest ?
				     bt_field_class_array_dynamic_create(trace_class, class, NULL) :
				     bt_field_class_array_static_create(trace_class, class, field->dim[i - 1]));

		bt_field_class_put_ref(class);
		class = array;
	}
	return class;
}

static void add_structure(bt_trace_class *trace_class, bt_field_class *to, const struct px_struct *of)
{
	for (const struct px_field *i = of->first; i; i = i->next) {
		bt_field_class *class;

		if (!i->name) {
			add_structure(trace_class, to, i->of);
			continue;
		}
		class = member_class(trace_class, i);
		ctf_must_be_zero(bt_field_class_structure_append_member(to, i->name, class));
		bt_field_class_put_ref(class);
	}
}

void ctf_fields_add(bt_trace_class *trace_class, bt_field_class *payload, const struct px_fields *fields)
{
	add_structure(trace_class, payload, fields->top);
}

/* Values. */

static void fill_structure(bt_field *to, const struct px_struct *of, uint64_t bit, const struct ctf_data *data,
			   uint64_t *next);

static void set_text(bt_field *to, const char *text, size_t length)
{
	char room[2][SHORT_TEXT + 1], *copy = room[0], *clean = room[1];
	bool is_long = length > SHORT_TEXT;

	if (is_long) {
		copy = must(malloc(length + 1));
		clean = must(malloc(length + 1));
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	text_utf8(clean, length + 1, copy);
	ctf_must_be_zero(bt_field_string_set_value(to, clean));
	if (is_long) {
		free(clean);
		free(copy);
	}
}

static void fill_value(bt_field *to, const struct px_field *field, uint64_t bit, const struct ctf_data *data)
{
	bool is_text = field->kind == PX_FIELD_CHAR && field->nr_dims > 0;
	const struct px_field_place place = {field, bit, is_text};
	struct px_field_value value = {.text = ""};
	char character;

	/* The data are whole, so only an open text may be empty, and the format of a long double may not be known. */
	if (!px_fields_get(data->fields, &place, data->bytes, data->size, &value))
		value = (struct px_field_value){.text = "", .is_text = is_text, .real = (double)NAN};
	character = (char)value.number;
	if (value.is_text)
		set_text(to, value.text, value.length);
	else if (field->kind == PX_FIELD_CHAR)
		set_text(to, &character, 1);
	else if (field->kind == PX_FIELD_FLOAT && field->size == 4)
		bt_field_real_single_precision_set_value(to, (float)value.real);
	else if (field->kind == PX_FIELD_FLOAT)
		bt_field_real_double_precision_set_value(to, value.real);
	else if (field->kind == PX_FIELD_BOOL)
		bt_field_integer_unsigned_set_value(to, value.number != 0);
	else if (field->kind == PX_FIELD_SIGNED || (field->kind == PX_FIELD_ENUM && field->names->is_signed))
		bt_field_integer_signed_set_value(to, (int64_t)value.number);
	else
		bt_field_integer_unsigned_set_value(to, value.number);
}

static void fill_elements(bt_field *to, const struct px_field *field, uint32_t level, uint64_t bit,
			  const struct ctf_data *data)
{
	uint64_t bytes = field->size, nr, next = 0;

	if (level == nr_arrays(field)) {
		if (field->kind == PX_FIELD_STRUCT)
			fill_structure(to, field->of, bit, data, &next);
		else
			fill_value(to, field, bit, data);
		return;
	}
	for (uint32_t i = level + 1; i < field->nr_dims; i++)
		bytes *= field->dim[i];
	nr = field->is_rest ? (data->size - bit / 8) / field->size : field->dim[level];
	if (field->is_rest)
		ctf_must_be_zero(bt_field_array_dynamic_set_length(to, nr));
	for (uint64_t i = 0; i < nr; i++)
		fill_elements(bt_field_array_borrow_element_field_by_index(to, i), field, level + 1,
			      bit + i * bytes * 8, data);
}

static void fill_structure(bt_field *to, const struct px_struct *of, uint64_t bit, const struct ctf_data *data,
			   uint64_t *next)
{
	for (const struct px_field *i = of->first; i; i = i->next) {
		if (i->name)
			fill_elements(bt_field_structure_borrow_member_field_by_index(to, (*next)++), i, 0,
				      bit + i->bit, data);
		else
			fill_structure(to, i->of, bit + i->bit, data, next);
	}
}

void ctf_fields_fill(bt_field *payload, const struct ctf_data *data)
{
	uint64_t next = 0;

	fill_structure(payload, data->fields->top, 0, data, &next);
}
