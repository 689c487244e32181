/* SPDX-License-Identifier: MIT */
/* The types in descriptions. */
#include <string.h>

#include "fields/parser.h"

bool px_fields_use_form(struct px_fields_parser *parser, enum px_fields_form form, const char *at)
{
	if (parser->form != FORM_OPEN && parser->form != form)
		return px_fields_fail(parser, at, "the short form and the C form are mixed");
	parser->form = form;
	return true;
}

void px_fields_set_number(struct px_fields_type *type, enum px_field_kind kind, uint32_t size)
{
	type->kind = kind;
	type->size = type->align = size;
}

enum { LONG = 100, POINTER, LONG_DOUBLE }; /* sizes that the model has */

static const struct {
	const char *name;
	enum px_fields_form form;
	enum px_field_kind kind;
	uint32_t size;
} types[] = {
	{"u8", FORM_SHORT, PX_FIELD_UNSIGNED, 1},    {"u16", FORM_SHORT, PX_FIELD_UNSIGNED, 2},
	{"u32", FORM_SHORT, PX_FIELD_UNSIGNED, 4},   {"u64", FORM_SHORT, PX_FIELD_UNSIGNED, 8},
	{"i8", FORM_SHORT, PX_FIELD_SIGNED, 1},	     {"i16", FORM_SHORT, PX_FIELD_SIGNED, 2},
	{"i32", FORM_SHORT, PX_FIELD_SIGNED, 4},     {"i64", FORM_SHORT, PX_FIELD_SIGNED, 8},
	{"f32", FORM_SHORT, PX_FIELD_FLOAT, 4},	     {"f64", FORM_SHORT, PX_FIELD_FLOAT, 8},
	{"ptr", FORM_SHORT, PX_FIELD_POINTER, POINTER},
	{"long_double", FORM_SHORT, PX_FIELD_FLOAT, LONG_DOUBLE},
	{"bool", FORM_OPEN, PX_FIELD_BOOL, 1},
	{"_Bool", FORM_C, PX_FIELD_BOOL, 1},	     {"uint8_t", FORM_C, PX_FIELD_UNSIGNED, 1},
	{"uint16_t", FORM_C, PX_FIELD_UNSIGNED, 2},  {"uint32_t", FORM_C, PX_FIELD_UNSIGNED, 4},
	{"uint64_t", FORM_C, PX_FIELD_UNSIGNED, 8},  {"int8_t", FORM_C, PX_FIELD_SIGNED, 1},
	{"int16_t", FORM_C, PX_FIELD_SIGNED, 2},     {"int32_t", FORM_C, PX_FIELD_SIGNED, 4},
	{"int64_t", FORM_C, PX_FIELD_SIGNED, 8},     {"size_t", FORM_C, PX_FIELD_UNSIGNED, POINTER},
	{"ssize_t", FORM_C, PX_FIELD_SIGNED, POINTER},
	{"ptrdiff_t", FORM_C, PX_FIELD_SIGNED, POINTER},
	{"uintptr_t", FORM_C, PX_FIELD_UNSIGNED, POINTER},
	{"intptr_t", FORM_C, PX_FIELD_SIGNED, POINTER},
};

static uint32_t model_size(const struct px_fields_parser *parser, uint32_t size)
{
	return size == LONG	   ? parser->model.of_long :
	       size == POINTER	   ? parser->model.of_pointer :
	       size == LONG_DOUBLE ? parser->model.of_long_double :
				     size;
}

enum word { SIGNED, UNSIGNED, SHORT, LONGS, INT, CHAR, FLOAT, DOUBLE, VOID, NR_WORDS };

static const char *const words[NR_WORDS] = {
	[SIGNED] = "signed", [UNSIGNED] = "unsigned", [SHORT] = "short",
	[LONGS] = "long",    [INT] = "int",	      [CHAR] = "char",
	[FLOAT] = "float",   [DOUBLE] = "double",     [VOID] = "void",
};

/* Choose the type of these words of C.  `char` alone has both forms. */
static bool choose_type(struct px_fields_parser *parser, const unsigned int nr[NR_WORDS], struct px_fields_type *type)
{
	unsigned int others = nr[CHAR] + nr[FLOAT] + nr[DOUBLE] + nr[VOID];
	unsigned int sizes = nr[SHORT] + nr[LONGS], signs = nr[SIGNED] + nr[UNSIGNED];
	enum px_field_kind kind = nr[UNSIGNED] ? PX_FIELD_UNSIGNED : PX_FIELD_SIGNED;
	bool is_long_double = nr[DOUBLE] && nr[LONGS] == 1 && !nr[SHORT];

	if (signs > 1 || others > 1 || nr[INT] > 1 || nr[SHORT] > 1 || nr[LONGS] > 2 ||
	    (nr[SHORT] && nr[LONGS]) || (others && nr[INT]) || (others && sizes && !is_long_double) ||
	    (others && signs && !nr[CHAR]))
		return px_fields_fail(parser, type->at, "this is not a type");
	if (!(nr[CHAR] && !signs) && !px_fields_use_form(parser, FORM_C, type->at))
		return false;
	if (nr[VOID])
		type->is_void = true;
	else if (nr[CHAR])
		px_fields_set_number(type, signs ? kind : PX_FIELD_CHAR, 1);
	else if (nr[FLOAT])
		px_fields_set_number(type, PX_FIELD_FLOAT, 4);
	else if (nr[DOUBLE])
		px_fields_set_number(type, PX_FIELD_FLOAT, is_long_double ? model_size(parser, LONG_DOUBLE) : 8);
	else
		px_fields_set_number(type, kind, nr[SHORT]      ? 2 :
				       nr[LONGS] == 1 ? model_size(parser, LONG) :
				       nr[LONGS] == 2 ? 8 :
							4);
	return true;
}

static bool take_c_words(struct px_fields_parser *parser, struct px_fields_type *type, bool *is_found)
{
	unsigned int nr[NR_WORDS] = {0}, sum = 0;
	bool is_taken;

	do {
		is_taken = px_fields_take_word(parser, "const") || px_fields_take_word(parser, "volatile");
		for (int i = 0; !is_taken && i < NR_WORDS; i++) {
			is_taken = px_fields_take_word(parser, words[i]);
			nr[i] += is_taken;
			sum += is_taken;
		}
	} while (is_taken);
	*is_found = sum > 0;
	return sum == 0 || choose_type(parser, nr, type);
}

bool px_fields_take_number_type(struct px_fields_parser *parser, struct px_fields_type *type, bool *is_found)
{
	size_t length;

	*is_found = false;
	if (!take_c_words(parser, type, is_found) || *is_found)
		return *is_found;
	length = px_fields_word_here(parser);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!px_fields_is_word(parser->at, length, types[i].name))
			continue;
		*is_found = true;
		if (types[i].form != FORM_OPEN && !px_fields_use_form(parser, types[i].form, parser->at))
			return false;
		px_fields_set_number(type, types[i].kind, model_size(parser, types[i].size));
		parser->at += length;
		return true;
	}
	return true;
}

static const struct px_struct *find_struct(const struct px_fields_parser *parser, const char *tag, size_t length)
{
	for (const struct px_struct *i = parser->structs; i; i = i->next)
		if (i->tag && px_fields_is_word(tag, length, i->tag))
			return i;
	return NULL;
}

static const struct px_enum *find_enum(const struct px_fields_parser *parser, const char *tag, size_t length)
{
	for (const struct px_enum *i = parser->enums; i; i = i->next)
		if (i->tag && px_fields_is_word(tag, length, i->tag))
			return i;
	return NULL;
}

static bool take_integer(struct px_fields_parser *parser, int64_t *number)
{
	const char *begin = parser->at;
	bool is_negative = px_fields_take_char(parser, '-');
	uint64_t value;

	if (!px_fields_take_number(parser, &value))
		return false;
	if (is_negative && value > UINT64_C(1) << 63)
		return px_fields_fail(parser, begin, "the number is too large");
	*number = (int64_t)(is_negative ? 0 - value : value);
	return true;
}

static bool fits(const struct px_enum *made, int64_t number)
{
	unsigned int bits = made->size * 8;

	if (bits == 64)
		return true;
	if (made->is_signed)
		return number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1);
	return number >= 0 && number < INT64_C(1) << bits;
}

/* Without a type, an enum with a negative number is signed, and one with a number beyond int is not, as in C. */
static bool take_enum_names(struct px_fields_parser *parser, struct px_enum *made, bool has_type)
{
	struct px_enum_name **last = &made->names;
	int64_t next = 0, least = 0;

	do {
		size_t length = px_fields_word_here(parser);
		const char *at = parser->at;
		struct px_enum_name *name;

		if (length == 0 && made->names && parser->at < parser->end && *parser->at == '}')
			break;
		if (length == 0)
			return px_fields_fail(parser, parser->at, "a name is missing");
		if (++parser->nr_declarators > PX_FIELDS_MAX)
			return px_fields_fail(parser, at, "there are too many names");
		parser->at += length;
		name = px_fields_alloc(parser, sizeof(*name));
		if (!name || !(name->name = px_fields_copy_name(parser, at, length)))
			return false;
		if (px_fields_take_char(parser, '=')) {
			px_fields_skip_blanks(parser);
			at = parser->at;
			if (!take_integer(parser, &next))
				return false;
		}
		least = next < least ? next : least;
		if (!has_type)
			made->is_signed = least < 0;
		if (!fits(made, next))
			return px_fields_fail(parser, at, "the number does not fit into the enum");
		name->value = next;
		next = (int64_t)((uint64_t)next + 1);
		*last = name;
		last = &name->next;
	} while (px_fields_take_char(parser, ','));
	return px_fields_take_char(parser, '}') || px_fields_fail(parser, parser->at, "a } is missing");
}

static bool take_enum(struct px_fields_parser *parser, struct px_fields_type *type)
{
	size_t length = px_fields_word_here(parser);
	const char *tag = parser->at;
	struct px_fields_type number = {.at = tag};
	bool has_type, is_number = false;
	struct px_enum *made;

	parser->at += length;
	has_type = px_fields_take_char(parser, ':');
	if (has_type) {
		px_fields_skip_blanks(parser);
		number.at = parser->at;
		if (!px_fields_take_number_type(parser, &number, &is_number))
			return false;
		if (!is_number || number.is_void ||
		    (number.kind != PX_FIELD_UNSIGNED && number.kind != PX_FIELD_SIGNED))
			return px_fields_fail(parser, number.at, "an integer type is missing");
	}
	if (!px_fields_take_char(parser, '{')) {
		type->names = length ? find_enum(parser, tag, length) : NULL;
		if (!type->names || has_type)
			return px_fields_fail(parser, parser->at, "the names of the enum are missing");
	} else {
		if (length && find_enum(parser, tag, length))
			return px_fields_fail(parser, tag, "this enum is defined twice");
		made = px_fields_alloc(parser, sizeof(*made));
		if (!made)
			return false;
		made->size = has_type ? number.size : 4;
		made->is_signed = has_type && number.kind == PX_FIELD_SIGNED;
		if (!take_enum_names(parser, made, has_type) ||
		    (length && !(made->tag = px_fields_copy_name(parser, tag, length))))
			return false;
		made->next = parser->enums;
		parser->enums = made;
		type->names = made;
		type->is_definition = length > 0;
	}
	px_fields_set_number(type, PX_FIELD_ENUM, type->names->size);
	return true;
}

static bool take_struct(struct px_fields_parser *parser, struct px_fields_type *type, bool is_union)
{
	size_t length = px_fields_word_here(parser);
	const char *tag = parser->at;
	struct px_struct *made;

	parser->at += length;
	type->kind = PX_FIELD_STRUCT;
	if (!px_fields_take_char(parser, '{')) {
		if (length == 0)
			return px_fields_fail(parser, parser->at, "a tag or a { is missing");
		type->of = find_struct(parser, tag, length);
		if (type->of && type->of->is_union != is_union)
			return px_fields_fail(parser, tag, "struct and union are mixed");
		type->tag = tag;
		type->tag_length = length;
	} else {
		if (length && find_struct(parser, tag, length))
			return px_fields_fail(parser, tag, "this structure is defined twice");
		if (parser->level == PX_FIELDS_DEPTH)
			return px_fields_fail(parser, parser->at - 1, "the structures are nested too deeply");
		made = px_fields_alloc(parser, sizeof(*made));
		if (!made)
			return false;
		made->is_union = is_union;
		parser->level++;
		if (!px_fields_take_members(parser, made, false))
			return false;
		parser->level--;
		if (length && !(made->tag = px_fields_copy_name(parser, tag, length)))
			return false;
		made->next = parser->structs;
		parser->structs = made;
		type->of = made;
		type->is_definition = length > 0;
	}
	if (type->of) {
		type->size = type->of->size;
		type->align = type->of->align;
	}
	return true;
}

bool px_fields_take_type(struct px_fields_parser *parser, struct px_fields_type *type)
{
	bool is_found;

	while (px_fields_take_word(parser, "const") || px_fields_take_word(parser, "volatile"))
		;
	px_fields_skip_blanks(parser);
	*type = (struct px_fields_type){.at = parser->at};
	if (px_fields_take_word(parser, "struct"))
		return take_struct(parser, type, false);
	if (px_fields_take_word(parser, "union"))
		return take_struct(parser, type, true);
	if (px_fields_take_word(parser, "enum"))
		return take_enum(parser, type);
	if (!px_fields_take_number_type(parser, type, &is_found))
		return false;
	if (is_found)
		return true;
	type->tag = parser->at;
	type->tag_length = px_fields_word_here(parser);
	if (type->tag_length == 0)
		return px_fields_fail(parser, parser->at, "a type is missing");
	parser->at += type->tag_length;
	return true;
}
