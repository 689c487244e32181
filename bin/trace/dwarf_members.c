/* SPDX-License-Identifier: MIT */
#include "trace/dwarf_members.h"

#include <dwarf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define STEPS_MAX 200000 /* entries that a description reads */
#define MEMBERS_MAX 1024
#define ALIASES_MAX 64 /* typedefs and qualifiers in a row */
#define ENUM_NAMES_MAX 300
#define NAME_BYTES 128

static const char too_long[] = "is too large to be described";

struct writer {
	char *text; /* PX_FIELDS_TEXT_MAX + 1 bytes */
	size_t used;
	unsigned int nr_fields, nr_steps, depth;
	const char *why; /* the first error */
	const struct px_fields_model *model;
	bool is_open;	 /* the last member takes the rest of the data */
};

struct member {
	Dwarf_Die die;
	uint64_t bit, bits; /* bits: width of a bit-field, or 0 */
	unsigned int order;
};

/* The type of a field: dimensions of arrays around a type that is no array. */
struct shape {
	Dwarf_Die type;
	uint64_t dim[PX_FIELDS_DIMS];
	unsigned int nr_dims;
	bool is_open; /* the first dimension has no size */
	uint64_t size; /* of one element, in bytes */
};

static bool fail(struct writer *writer, const char *why)
{
	if (!writer->why)
		writer->why = why;
	return false;
}

static bool step(struct writer *writer)
{
	return ++writer->nr_steps <= STEPS_MAX || fail(writer, too_long);
}

__attribute__((format(printf, 2, 3))) static bool put(struct writer *writer, const char *format, ...)
{
	size_t room = PX_FIELDS_TEXT_MAX + 1 - writer->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(writer->text + writer->used, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room)
		return fail(writer, too_long);
	writer->used += (size_t)length;
	return true;
}

/* Names of other languages may have characters that a description does not take. */
static void clean_name(char to[NAME_BYTES], const char *name)
{
	size_t length = 0;

	if (name && *name >= '0' && *name <= '9')
		to[length++] = '_';
	for (; name && *name && length < NAME_BYTES - 1; name++) {
		bool is_fine = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			       (*name >= '0' && *name <= '9') || *name == '_';

		to[length++] = *name;
		if (!is_fine)
			to[length - 1] = '_';
	}
	to[length] = '\0';
}

/* Attributes. */

static bool get_unsigned(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
		return false;
	*number = word;
	return true;
}

static bool get_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

static bool has_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	bool is_set = false;

	return dwarf_attr(die, name, &attribute) && dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type ||
	       tag == DW_TAG_packed_type;
}

/* Get the type behind aliases.  Return false if they do not end, or lead to void. */
static bool peel(Dwarf_Die *die, Dwarf_Die *type)
{
	*type = *die;
	for (int i = 0; i < ALIASES_MAX; i++) {
		Dwarf_Die next;

		if (!is_alias(dwarf_tag(type)))
			return true;
		if (!get_type(type, &next))
			return false;
		*type = next;
	}
	return false;
}

bool dwarf_members_complete(Dwarf_Die *die, Dwarf_Die *type)
{
	return peel(die, type) && !has_flag(type, DW_AT_declaration);
}

static bool is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type ||
	       tag == DW_TAG_ptr_to_member_type || tag == DW_TAG_subroutine_type;
}

/* Shapes. */

static bool take_dimension(struct writer *writer, struct shape *shape, Dwarf_Die *subrange)
{
	uint64_t count, first = 0;
	bool is_known = get_unsigned(subrange, DW_AT_count, &count);

	get_unsigned(subrange, DW_AT_lower_bound, &first);
	if (!is_known && get_unsigned(subrange, DW_AT_upper_bound, &count) && count - first != UINT64_MAX) {
		count = count - first + 1;
		is_known = true;
	}
	if (!is_known || count == 0) {
		if (shape->nr_dims > 0)
			return fail(writer, "has an array without a size");
		shape->is_open = true;
		count = 1;
	}
	if (count > PX_FIELDS_SIZE_MAX)
		return fail(writer, "has an array that is too large");
	if (shape->nr_dims == PX_FIELDS_DIMS)
		shape->dim[shape->nr_dims - 1] *= count;
	else
		shape->dim[shape->nr_dims++] = count;
	return shape->dim[shape->nr_dims - 1] <= PX_FIELDS_SIZE_MAX || fail(writer, "has an array that is too large");
}

static bool take_array(struct writer *writer, struct shape *shape, Dwarf_Die *array)
{
	unsigned int nr_before = shape->nr_dims;
	Dwarf_Die child;
	int status;

	if (dwarf_hasattr(array, DW_AT_byte_stride) || dwarf_hasattr(array, DW_AT_bit_stride))
		return fail(writer, "has an array with gaps");
	for (status = dwarf_child(array, &child); status == 0; status = dwarf_siblingof(&child, &child)) {
		if (!step(writer))
			return false;
		if (dwarf_tag(&child) == DW_TAG_subrange_type && !take_dimension(writer, shape, &child))
			return false;
	}
	return shape->nr_dims > nr_before || shape->is_open || fail(writer, "has an array without a size");
}

/* Find out the shape of the type of a member. */
static bool find_shape(struct writer *writer, Dwarf_Die *member, struct shape *shape)
{
	Dwarf_Die type;

	*shape = (struct shape){.nr_dims = 0};
	if (!get_type(member, &type) || !peel(&type, &shape->type))
		return fail(writer, "has a member without a type");
	while (dwarf_tag(&shape->type) == DW_TAG_array_type) {
		if (!step(writer) || !take_array(writer, shape, &shape->type))
			return false;
		if (!get_type(&shape->type, &type) || !peel(&type, &shape->type))
			return fail(writer, "has an array without a type");
	}
	if (!get_unsigned(&shape->type, DW_AT_byte_size, &shape->size)) {
		if (!is_pointer(dwarf_tag(&shape->type)))
			return fail(writer, "has a member of a type that is not defined");
		shape->size = writer->model->of_pointer;
	}
	return shape->size <= PX_FIELDS_SIZE_MAX || fail(writer, "is larger than 1 MiB");
}

static uint64_t bytes_of(const struct shape *shape)
{
	uint64_t bytes = shape->size;

	if (shape->is_open)
		return 0;
	for (unsigned int i = 0; i < shape->nr_dims && bytes <= PX_FIELDS_SIZE_MAX; i++)
		bytes *= shape->dim[i];
	return bytes;
}

/* Types. */

static bool put_members(struct writer *writer, Dwarf_Die *structure, uint64_t size, bool is_top);

/* Return false if numbers of this size have no type. */
static bool is_number_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_signed_type(Dwarf_Die *type)
{
	uint64_t encoding = 0;

	get_unsigned(type, DW_AT_encoding, &encoding);
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static bool put_enum_names(struct writer *writer, Dwarf_Die *type, bool is_signed)
{
	unsigned int nr = 0;
	int64_t next = 0;
	Dwarf_Die child;
	int status;

	for (status = dwarf_child(type, &child); status == 0; status = dwarf_siblingof(&child, &child)) {
		Dwarf_Attribute attribute;
		char name[NAME_BYTES];
		Dwarf_Sword number;
		Dwarf_Word word;

		if (!step(writer))
			return false;
		if (dwarf_tag(&child) != DW_TAG_enumerator)
			continue;
		clean_name(name, dwarf_diename(&child));
		if (!*name || !dwarf_attr(&child, DW_AT_const_value, &attribute) || nr == ENUM_NAMES_MAX)
			return false;
		if (is_signed ? dwarf_formsdata(&attribute, &number) != 0 : dwarf_formudata(&attribute, &word) != 0)
			return false;
		if (!is_signed)
			number = (Dwarf_Sword)word;
		if (!put(writer, "%s%s", nr++ > 0 ? "," : "", name) ||
		    (number != next && !(is_signed ? put(writer, "=%lld", (long long)number) :
						     put(writer, "=%llu", (unsigned long long)number))))
			return false;
		next = (int64_t)((uint64_t)number + 1);
	}
	return nr > 0;
}

/* Write an enum, or only its numbers if its names do not fit. */
static bool put_enum(struct writer *writer, Dwarf_Die *type, uint64_t size)
{
	size_t used = writer->used;
	bool is_signed = false;
	Dwarf_Attribute attribute;
	Dwarf_Die base, number;

	if (get_type(type, &base) && peel(&base, &number))
		is_signed = is_signed_type(&number);
	else if (dwarf_attr(type, DW_AT_encoding, &attribute))
		is_signed = is_signed_type(type);
	if (!is_number_size(size))
		return fail(writer, "has an enum of an odd size");
	if (put(writer, "enum:%c%u{", is_signed ? 'i' : 'u', (unsigned int)size * 8) &&
	    put_enum_names(writer, type, is_signed) && put(writer, "}"))
		return true;
	if (writer->nr_steps > STEPS_MAX)
		return false;
	writer->used = used;
	writer->why = NULL;
	return put(writer, "%c%u", is_signed ? 'i' : 'u', (unsigned int)size * 8);
}

/* Write the type of a number.  *nr: how many of it the type is. */
static bool put_base(struct writer *writer, Dwarf_Die *type, uint64_t size, uint64_t *nr)
{
	const char *name = dwarf_diename(type);
	unsigned int bits = (unsigned int)size * 8;
	uint64_t encoding = 0;

	get_unsigned(type, DW_AT_encoding, &encoding);
	*nr = 1;
	switch (encoding) {
	case DW_ATE_boolean:
		return size == 1 ? put(writer, "bool") : is_number_size(size) && put(writer, "u%u", bits);
	case DW_ATE_float:
		if (size == 4 || size == 8)
			return put(writer, "f%u", bits);
		if (size == writer->model->of_long_double && name && strcmp(name, "long double") == 0)
			return put(writer, "long_double");
		break;
	case DW_ATE_complex_float:
		*nr = 2;
		if (size == 8 || size == 16)
			return put(writer, "f%u", bits / 2);
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		if (size == 1 && (encoding == DW_ATE_UTF || (name && strcmp(name, "char") == 0)))
			return put(writer, "char");
		if (is_number_size(size))
			return put(writer, "%c%u", encoding == DW_ATE_signed_char ? 'i' : 'u', bits);
		break;
	case DW_ATE_signed:
		if (is_number_size(size))
			return put(writer, "i%u", bits);
		break;
	case DW_ATE_address:
		if (size == writer->model->of_pointer)
			return put(writer, "ptr");
		break;
	case DW_ATE_unsigned:
		if (is_number_size(size))
			return put(writer, "u%u", bits);
		break;
	default:
		break;
	}
	/* Such as a number of 16 bytes: show its bytes. */
	*nr = size;
	return put(writer, "u8");
}

static bool put_structure(struct writer *writer, Dwarf_Die *type, uint64_t size)
{
	bool is_fine;

	if (has_flag(type, DW_AT_declaration))
		return fail(writer, "has a member of a type that is not defined");
	if (++writer->depth >= PX_FIELDS_DEPTH)
		return fail(writer, "has structures that are nested too deeply");
	is_fine = put(writer, "%s{", dwarf_tag(type) == DW_TAG_union_type ? "union" : "struct") &&
		  put_members(writer, type, size, false) && put(writer, "}");
	writer->depth--;
	return is_fine;
}

/* Write the type before a declarator.  *nr: as in put_base(). */
static bool put_type(struct writer *writer, const struct shape *shape, uint64_t *nr)
{
	Dwarf_Die type = shape->type;
	int tag = dwarf_tag(&type);

	*nr = 1;
	if (is_structure(tag))
		return put_structure(writer, &type, shape->size);
	if (tag == DW_TAG_enumeration_type)
		return put_enum(writer, &type, shape->size);
	if (tag == DW_TAG_base_type)
		return put_base(writer, &type, shape->size, nr);
	if (is_pointer(tag) && shape->size == writer->model->of_pointer)
		return put(writer, "ptr");
	*nr = shape->size;
	return put(writer, "u8");
}

/* Members. */

static bool get_place(Dwarf_Die *die, uint64_t *byte)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operation;
	Dwarf_Word word;
	size_t nr;

	*byte = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &attribute))
		return true;
	if (dwarf_formudata(&attribute, &word) == 0) {
		*byte = word;
		return true;
	}
	if (dwarf_getlocation(&attribute, &operation, &nr) != 0 || nr != 1 || operation->atom != DW_OP_plus_uconst)
		return false;
	*byte = operation->number;
	return true;
}

/* Read where a member is.  Return false if it is no member of each object, such as a static one of C++. */
static bool read_place(const struct writer *writer, Dwarf_Die *die, struct member *member)
{
	uint64_t byte, bit, size;

	if (has_flag(die, DW_AT_external) || has_flag(die, DW_AT_declaration) || !get_place(die, &byte) ||
	    byte > PX_FIELDS_SIZE_MAX)
		return false;
	*member = (struct member){.die = *die, .bit = byte * 8};
	if (!get_unsigned(die, DW_AT_bit_size, &member->bits))
		return true;
	if (get_unsigned(die, DW_AT_data_bit_offset, &bit))
		member->bit = bit;
	else if (get_unsigned(die, DW_AT_bit_offset, &bit) && get_unsigned(die, DW_AT_byte_size, &size))
		member->bit += writer->model->is_big ? bit : size * 8 - bit - member->bits;
	return member->bit <= (uint64_t)PX_FIELDS_SIZE_MAX * 8 && member->bits > 0 && member->bits <= 64;
}

static int compare_members(const void *a, const void *b)
{
	const struct member *first = a, *second = b;

	if (first->bit != second->bit)
		return first->bit < second->bit ? -1 : 1;
	return first->order < second->order ? -1 : 1;
}

/* Read the members, the first in memory first: some languages do not keep their order. */
static bool read_members(struct writer *writer, Dwarf_Die *structure, struct member *members, unsigned int *nr)
{
	Dwarf_Die child;
	int status;

	*nr = 0;
	for (status = dwarf_child(structure, &child); status == 0; status = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (!step(writer))
			return false;
		if (tag == DW_TAG_variant_part)
			return fail(writer, "has variants");
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !read_place(writer, &child, &members[*nr]))
			continue;
		members[*nr].order = *nr;
		if (++*nr == MEMBERS_MAX)
			return fail(writer, too_long);
	}
	if (*nr > 1)
		qsort(members, *nr, sizeof(members[0]), compare_members);
	return true;
}

/* Skip the bits between two fields.  A field that is no bit-field begins at a byte by itself. */
static bool put_gap(struct writer *writer, uint64_t from, uint64_t to, bool is_bit_field)
{
	uint64_t next = (from + 7) / 8 * 8;

	if (is_bit_field && from % 8 && to > from) {
		uint64_t part = to < next ? to - from : next - from;

		if (!put(writer, "u8:%u;", (unsigned int)part))
			return false;
		from += part;
		next = (from + 7) / 8 * 8;
	}
	if (to / 8 > next / 8 && !put(writer, "pad %llu;", (unsigned long long)(to / 8 - next / 8)))
		return false;
	from = to / 8 > next / 8 ? to / 8 * 8 : is_bit_field ? from : next;
	return !is_bit_field || to <= from || put(writer, "u8:%u;", (unsigned int)(to - from));
}

/* The name of a base class is that of its type. */
static void name_member(char name[NAME_BYTES], Dwarf_Die *die, const struct shape *shape)
{
	Dwarf_Die type = shape->type;

	clean_name(name, dwarf_tag(die) == DW_TAG_inheritance ? dwarf_diename(&type) : dwarf_diename(die));
}

/*
 * Write a field.  *end: the bit after it.  A structure without fields is left out, because no description has one: then
 * *end stays.
 */
static bool put_member(struct writer *writer, struct member *member, uint64_t *end, bool is_union, bool is_top)
{
	unsigned int nr_before = writer->nr_fields;
	size_t used = writer->used;
	char name[NAME_BYTES];
	struct shape shape;
	uint64_t nr;

	if (!step(writer) || !find_shape(writer, &member->die, &shape))
		return false;
	if (shape.size == 0 || (shape.is_open && !is_top))
		return true;
	if (!is_union && member->bit < *end)
		return fail(writer, "has members that overlap");
	if (!put_gap(writer, *end, member->bit, member->bits > 0) || !put_type(writer, &shape, &nr))
		return false;
	name_member(name, &member->die, &shape);
	if (is_structure(dwarf_tag(&shape.type)) && writer->nr_fields == nr_before) {
		writer->used = used;
		writer->text[used] = '\0';
		return true;
	}
	writer->nr_fields++;
	writer->is_open = shape.is_open;
	if (member->bits > 0) {
		*end = member->bit + member->bits;
		return put(writer, " %s:%u;", name, (unsigned int)member->bits);
	}
	*end = member->bit + bytes_of(&shape) * 8;
	put(writer, "%s%s", *name ? " " : "", name);
	for (unsigned int i = 0; i < shape.nr_dims; i++)
		if (i == 0 && shape.is_open)
			put(writer, "[]");
		else
			put(writer, "[%llu]", (unsigned long long)shape.dim[i]);
	if (nr > 1)
		put(writer, "[%llu]", (unsigned long long)nr);
	return put(writer, ";");
}

static bool put_members(struct writer *writer, Dwarf_Die *structure, uint64_t size, bool is_top)
{
	bool is_union = dwarf_tag(structure) == DW_TAG_union_type, is_fine;
	struct member *members = must(calloc(MEMBERS_MAX, sizeof(*members)));
	uint64_t end = 0, largest = 0;
	unsigned int nr;

	is_fine = read_members(writer, structure, members, &nr);
	for (unsigned int i = 0; is_fine && i < nr; i++) {
		end = is_union ? 0 : end;
		is_fine = put_member(writer, &members[i], &end, is_union, is_top && i + 1 == nr);
		largest = end > largest ? end : largest;
	}
	free(members);
	if (!is_fine)
		return false;
	if (writer->is_open) /* the rest of the data: nothing comes after it */
		return true;
	if (size > (largest + 7) / 8 && !(is_union ? put(writer, "pad %llu;", (unsigned long long)size) :
						     put_gap(writer, largest, size * 8, false)))
		return false;
	return true;
}

/* A type that is no structure is one field. */
static bool put_value(struct writer *writer, Dwarf_Die *type, uint64_t size)
{
	const struct shape shape = {.type = *type, .size = size};
	uint64_t nr;

	if (!put_type(writer, &shape, &nr))
		return false;
	writer->nr_fields++;
	return nr > 1 ? put(writer, " value[%llu];", (unsigned long long)nr) : put(writer, " value;");
}

bool dwarf_members_describe(Dwarf_Die *die, const struct px_fields_model *model, char text[PX_FIELDS_TEXT_MAX + 1],
			    uint64_t *size, const char **why)
{
	struct writer writer = {.text = text, .model = model, .depth = 1};
	Dwarf_Die type;
	bool is_fine;

	if (!dwarf_members_complete(die, &type) || !get_unsigned(&type, DW_AT_byte_size, size)) {
		*why = "has no size";
		return false;
	}
	if (*size > PX_FIELDS_SIZE_MAX) {
		*why = "is larger than 1 MiB";
		return false;
	}
	text[0] = '\0';
	is_fine = is_structure(dwarf_tag(&type)) ? put_members(&writer, &type, *size, true) :
						   put_value(&writer, &type, *size);
	if (is_fine && writer.nr_fields == 0)
		is_fine = fail(&writer, "has no members");
	*why = writer.why ? writer.why : "cannot be described";
	return is_fine;
}
