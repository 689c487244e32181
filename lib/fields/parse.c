/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/fields.h"

enum form { FORM_OPEN, FORM_SHORT, FORM_C };

/* A type, before a declarator. */
struct type {
	enum px_field_kind kind;
	uint32_t size, align;
	const struct px_struct *of;
	const struct px_enum *names;
	bool is_void;	 /* only a pointer to it has a size */
	const char *tag; /* of a structure that is not defined, or the name of an unknown type */
	size_t tag_length;
	const char *at; /* where it is in the text */
	bool is_definition;
};

struct block {
	struct block *next;
	max_align_t memory[];
};

struct parser {
	const char *begin, *at, *end;
	enum form form;
	struct px_fields_model model;
	struct px_fields *fields;
	struct block *blocks;
	struct px_struct *structs; /* the newest first */
	struct px_enum *enums;
	uint32_t nr_declarators;
	unsigned int level;
	struct px_fields_error error;
	int failure;
};

/* A structure whose members are being read. */
struct open_struct {
	struct px_struct *made;
	uint64_t bit, largest; /* end of the last member; of a union, of its largest member */
	const char *rest_at;   /* the member that takes the rest of the data, or NULL */
};

static const char layout_too_large[] = "the data are too large";

static bool fail_at(struct parser *parser, const char *at, const char *what)
{
	if (!parser->failure) {
		parser->failure = EINVAL;
		parser->error.column = (size_t)(at - parser->begin) + 1;
		parser->error.what = what;
	}
	return false;
}

static void *take_memory(struct parser *parser, size_t size)
{
	struct block *block = calloc(1, sizeof(*block) + size);

	if (!block) {
		parser->failure = ENOMEM;
		return NULL;
	}
	block->next = parser->blocks;
	parser->blocks = block;
	return block->memory;
}

static const char *take_name(struct parser *parser, const char *text, size_t length)
{
	char *name = take_memory(parser, length + 1);

	if (name)
		memcpy(name, text, length);
	return name;
}

/* Tokens. */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_line(struct parser *parser)
{
	while (parser->at < parser->end && *parser->at != '\n')
		parser->at++;
}

/* A comment that does not end goes to the end of the text, where something is missing. */
static void skip_comment(struct parser *parser)
{
	for (parser->at += 2; parser->end - parser->at >= 2; parser->at++) {
		if (parser->at[0] == '*' && parser->at[1] == '/') {
			parser->at += 2;
			return;
		}
	}
	parser->at = parser->end;
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end) {
		if (strchr(" \t\n\r\v\f", *parser->at) && *parser->at)
			parser->at++;
		else if (parser->end - parser->at >= 2 && memcmp(parser->at, "/*", 2) == 0)
			skip_comment(parser);
		else if (parser->end - parser->at >= 2 && memcmp(parser->at, "//", 2) == 0)
			skip_line(parser);
		else
			return;
	}
}

/* Return the length of the word here; 0: here is no word. */
static size_t word_here(struct parser *parser)
{
	const char *at;

	skip_blanks(parser);
	at = parser->at;
	if (at == parser->end || !is_letter(*at))
		return 0;
	while (at < parser->end && (is_letter(*at) || is_digit(*at)))
		at++;
	return (size_t)(at - parser->at);
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool take_word(struct parser *parser, const char *word)
{
	size_t length = word_here(parser);

	if (!is_word(parser->at, length, word))
		return false;
	parser->at += length;
	return true;
}

static bool take_char(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Read a number without a sign: decimal, 0x or octal, as in C. */
static bool take_number(struct parser *parser, uint64_t *number)
{
	const char *begin;
	int base = 10;

	skip_blanks(parser);
	begin = parser->at;
	*number = 0;
	if (begin == parser->end || !is_digit(*begin))
		return fail_at(parser, begin, "a number is missing");
	if (*begin == '0') {
		base = 8;
		if (parser->end - begin > 2 && (begin[1] == 'x' || begin[1] == 'X')) {
			base = 16;
			parser->at += 2;
		}
	}
	for (; parser->at < parser->end && digit_of(*parser->at) < base; parser->at++) {
		uint64_t digit = (uint64_t)digit_of(*parser->at);

		if (*number > (UINT64_MAX - digit) / (uint64_t)base)
			return fail_at(parser, begin, "the number is too large");
		*number = *number * (uint64_t)base + digit;
	}
	while (parser->at < parser->end && strchr("uUlL", *parser->at) && *parser->at)
		parser->at++;
	if (parser->at < parser->end && (is_letter(*parser->at) || is_digit(*parser->at)))
		return fail_at(parser, begin, "this is not a number");
	return true;
}

/* Types. */

static bool use_form(struct parser *parser, enum form form, const char *at)
{
	if (parser->form != FORM_OPEN && parser->form != form)
		return fail_at(parser, at, "the short form and the C form are mixed");
	parser->form = form;
	return true;
}

static void set_number(struct type *type, enum px_field_kind kind, uint32_t size)
{
	type->kind = kind;
	type->size = type->align = size;
}

enum { LONG = 100, POINTER, LONG_DOUBLE }; /* sizes that the model has */

static const struct {
	const char *name;
	enum form form;
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

static uint32_t model_size(const struct parser *parser, uint32_t size)
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
static bool choose_type(struct parser *parser, const unsigned int nr[NR_WORDS], struct type *type)
{
	unsigned int others = nr[CHAR] + nr[FLOAT] + nr[DOUBLE] + nr[VOID];
	unsigned int sizes = nr[SHORT] + nr[LONGS], signs = nr[SIGNED] + nr[UNSIGNED];
	enum px_field_kind kind = nr[UNSIGNED] ? PX_FIELD_UNSIGNED : PX_FIELD_SIGNED;
	bool is_long_double = nr[DOUBLE] && nr[LONGS] == 1 && !nr[SHORT];

	if (signs > 1 || others > 1 || nr[INT] > 1 || nr[SHORT] > 1 || nr[LONGS] > 2 ||
	    (nr[SHORT] && nr[LONGS]) || (others && nr[INT]) || (others && sizes && !is_long_double) ||
	    (others && signs && !nr[CHAR]))
		return fail_at(parser, type->at, "this is not a type");
	if (!(nr[CHAR] && !signs) && !use_form(parser, FORM_C, type->at))
		return false;
	if (nr[VOID])
		type->is_void = true;
	else if (nr[CHAR])
		set_number(type, signs ? kind : PX_FIELD_CHAR, 1);
	else if (nr[FLOAT])
		set_number(type, PX_FIELD_FLOAT, 4);
	else if (nr[DOUBLE])
		set_number(type, PX_FIELD_FLOAT, is_long_double ? model_size(parser, LONG_DOUBLE) : 8);
	else
		set_number(type, kind, nr[SHORT]      ? 2 :
				       nr[LONGS] == 1 ? model_size(parser, LONG) :
				       nr[LONGS] == 2 ? 8 :
							4);
	return true;
}

static bool take_c_words(struct parser *parser, struct type *type, bool *is_found)
{
	unsigned int nr[NR_WORDS] = {0}, sum = 0;
	bool is_taken;

	do {
		is_taken = take_word(parser, "const") || take_word(parser, "volatile");
		for (int i = 0; !is_taken && i < NR_WORDS; i++) {
			is_taken = take_word(parser, words[i]);
			nr[i] += is_taken;
			sum += is_taken;
		}
	} while (is_taken);
	*is_found = sum > 0;
	return sum == 0 || choose_type(parser, nr, type);
}

static bool take_number_type(struct parser *parser, struct type *type, bool *is_found)
{
	size_t length;

	*is_found = false;
	if (!take_c_words(parser, type, is_found) || *is_found)
		return *is_found;
	length = word_here(parser);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!is_word(parser->at, length, types[i].name))
			continue;
		*is_found = true;
		if (types[i].form != FORM_OPEN && !use_form(parser, types[i].form, parser->at))
			return false;
		set_number(type, types[i].kind, model_size(parser, types[i].size));
		parser->at += length;
		return true;
	}
	return true;
}

static const struct px_struct *find_struct(const struct parser *parser, const char *tag, size_t length)
{
	for (const struct px_struct *i = parser->structs; i; i = i->next)
		if (i->tag && is_word(tag, length, i->tag))
			return i;
	return NULL;
}

static const struct px_enum *find_enum(const struct parser *parser, const char *tag, size_t length)
{
	for (const struct px_enum *i = parser->enums; i; i = i->next)
		if (i->tag && is_word(tag, length, i->tag))
			return i;
	return NULL;
}

static bool take_integer(struct parser *parser, int64_t *number)
{
	const char *begin = parser->at;
	bool is_negative = take_char(parser, '-');
	uint64_t value;

	if (!take_number(parser, &value))
		return false;
	if (is_negative && value > UINT64_C(1) << 63)
		return fail_at(parser, begin, "the number is too large");
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
static bool take_enum_names(struct parser *parser, struct px_enum *made, bool has_type)
{
	struct px_enum_name **last = &made->names;
	int64_t next = 0, least = 0;

	do {
		size_t length = word_here(parser);
		const char *at = parser->at;
		struct px_enum_name *name;

		if (length == 0 && made->names && parser->at < parser->end && *parser->at == '}')
			break;
		if (length == 0)
			return fail_at(parser, parser->at, "a name is missing");
		if (++parser->nr_declarators > PX_FIELDS_MAX)
			return fail_at(parser, at, "there are too many names");
		parser->at += length;
		name = take_memory(parser, sizeof(*name));
		if (!name || !(name->name = take_name(parser, at, length)))
			return false;
		if (take_char(parser, '=')) {
			skip_blanks(parser);
			at = parser->at;
			if (!take_integer(parser, &next))
				return false;
		}
		least = next < least ? next : least;
		if (!has_type)
			made->is_signed = least < 0;
		if (!fits(made, next))
			return fail_at(parser, at, "the number does not fit into the enum");
		name->value = next;
		next = (int64_t)((uint64_t)next + 1);
		*last = name;
		last = &name->next;
	} while (take_char(parser, ','));
	return take_char(parser, '}') || fail_at(parser, parser->at, "a } is missing");
}

static bool take_enum(struct parser *parser, struct type *type)
{
	size_t length = word_here(parser);
	const char *tag = parser->at;
	struct type number = {.at = tag};
	bool has_type, is_number = false;
	struct px_enum *made;

	parser->at += length;
	has_type = take_char(parser, ':');
	if (has_type) {
		skip_blanks(parser);
		number.at = parser->at;
		if (!take_number_type(parser, &number, &is_number))
			return false;
		if (!is_number || number.is_void ||
		    (number.kind != PX_FIELD_UNSIGNED && number.kind != PX_FIELD_SIGNED))
			return fail_at(parser, number.at, "an integer type is missing");
	}
	if (!take_char(parser, '{')) {
		type->names = length ? find_enum(parser, tag, length) : NULL;
		if (!type->names || has_type)
			return fail_at(parser, parser->at, "the names of the enum are missing");
	} else {
		if (length && find_enum(parser, tag, length))
			return fail_at(parser, tag, "this enum is defined twice");
		made = take_memory(parser, sizeof(*made));
		if (!made)
			return false;
		made->size = has_type ? number.size : 4;
		made->is_signed = has_type && number.kind == PX_FIELD_SIGNED;
		if (!take_enum_names(parser, made, has_type) ||
		    (length && !(made->tag = take_name(parser, tag, length))))
			return false;
		made->next = parser->enums;
		parser->enums = made;
		type->names = made;
		type->is_definition = length > 0;
	}
	set_number(type, PX_FIELD_ENUM, type->names->size);
	return true;
}

static bool take_members(struct parser *parser, struct px_struct *made, bool is_top);

static bool take_struct(struct parser *parser, struct type *type, bool is_union)
{
	size_t length = word_here(parser);
	const char *tag = parser->at;
	struct px_struct *made;

	parser->at += length;
	type->kind = PX_FIELD_STRUCT;
	if (!take_char(parser, '{')) {
		if (length == 0)
			return fail_at(parser, parser->at, "a tag or a { is missing");
		type->of = find_struct(parser, tag, length);
		if (type->of && type->of->is_union != is_union)
			return fail_at(parser, tag, "struct and union are mixed");
		type->tag = tag;
		type->tag_length = length;
	} else {
		if (length && find_struct(parser, tag, length))
			return fail_at(parser, tag, "this structure is defined twice");
		if (parser->level == PX_FIELDS_DEPTH)
			return fail_at(parser, parser->at - 1, "the structures are nested too deeply");
		made = take_memory(parser, sizeof(*made));
		if (!made)
			return false;
		made->is_union = is_union;
		parser->level++;
		if (!take_members(parser, made, false))
			return false;
		parser->level--;
		if (length && !(made->tag = take_name(parser, tag, length)))
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

static bool take_type(struct parser *parser, struct type *type)
{
	bool is_found;

	while (take_word(parser, "const") || take_word(parser, "volatile"))
		;
	skip_blanks(parser);
	*type = (struct type){.at = parser->at};
	if (take_word(parser, "struct"))
		return take_struct(parser, type, false);
	if (take_word(parser, "union"))
		return take_struct(parser, type, true);
	if (take_word(parser, "enum"))
		return take_enum(parser, type);
	if (!take_number_type(parser, type, &is_found))
		return false;
	if (is_found)
		return true;
	type->tag = parser->at;
	type->tag_length = word_here(parser);
	if (type->tag_length == 0)
		return fail_at(parser, parser->at, "a type is missing");
	parser->at += type->tag_length;
	return true;
}

/* Members. */

static uint32_t element_align(const struct parser *parser, uint32_t align)
{
	if (parser->form == FORM_SHORT || align == 0)
		return 1;
	return align < parser->model.align_max ? align : parser->model.align_max;
}

/* Parse the dimensions of an array.  *nr: the number of elements. */
static bool take_dimensions(struct parser *parser, struct px_field *field, uint64_t *nr)
{
	*nr = 1;
	for (;;) {
		const char *at;
		uint64_t dim;

		skip_blanks(parser);
		at = parser->at;
		if (!take_char(parser, '['))
			return true;
		if (field->is_rest)
			return fail_at(parser, at, "only one dimension may be open");
		if (field->nr_dims == PX_FIELDS_DIMS)
			return fail_at(parser, at, "the array has too many dimensions");
		if (take_char(parser, ']')) {
			if (field->nr_dims > 0)
				return fail_at(parser, at, "only one dimension may be open");
			field->is_rest = true;
			field->nr_dims = 1;
			continue;
		}
		at = parser->at;
		if (!take_number(parser, &dim))
			return false;
		if (dim == 0)
			return fail_at(parser, at, "an array has at least one element; [] is the rest of the data");
		if (dim > PX_FIELDS_SIZE_MAX || *nr * dim > PX_FIELDS_SIZE_MAX)
			return fail_at(parser, at, layout_too_large);
		*nr *= dim;
		field->dim[field->nr_dims++] = (uint32_t)dim;
		if (!take_char(parser, ']'))
			return fail_at(parser, parser->at, "a ] is missing");
	}
}

static uint64_t align_up(uint64_t bit, uint64_t align)
{
	return (bit + align - 1) / align * align;
}

/* Enter the member, which takes so many bits from field->bit on, into the structure. */
static bool add_member(struct parser *parser, struct open_struct *open, struct px_field *field,
		       uint64_t bits, uint64_t nr_values, const char *at)
{
	struct px_struct *made = open->made;
	uint64_t end = field->bit + bits;

	if (end > (uint64_t)PX_FIELDS_SIZE_MAX * 8)
		return fail_at(parser, at, layout_too_large);
	if (nr_values + made->nr_values > PX_FIELDS_VALUES_MAX)
		return fail_at(parser, at, "the data have too many values");
	made->nr_values += (uint32_t)nr_values;
	if (end > open->largest)
		open->largest = end;
	open->bit = made->is_union ? 0 : end;
	if (made->last)
		made->last->next = field;
	else
		made->first = field;
	made->last = field;
	return true;
}

static bool place_bit_field(struct parser *parser, struct open_struct *open, struct px_field *field,
			    const struct type *type, const char *at)
{
	uint32_t align = element_align(parser, type->align) * 8, unit = type->size * 8;
	uint64_t width, bit = open->bit;
	const char *width_at;

	skip_blanks(parser);
	width_at = parser->at;
	if (!take_number(parser, &width))
		return false;
	if (type->kind == PX_FIELD_FLOAT || type->kind == PX_FIELD_STRUCT ||
	    type->kind == PX_FIELD_POINTER || type->is_void || !type->size || field->nr_dims)
		return fail_at(parser, at, "only an integer can be a bit-field");
	if (width > (type->kind == PX_FIELD_BOOL ? 1 : unit) || (width == 0 && field->name))
		return fail_at(parser, width_at, "the type has not so many bits");
	/* System V ABI: a bit-field does not cross a boundary of its type. */
	if (parser->form != FORM_SHORT && (width == 0 || bit % align + width > unit))
		bit = align_up(bit, width == 0 ? unit : align);
	else if (parser->form == FORM_SHORT && width == 0)
		bit = align_up(bit, 8);
	if (bit + width > (uint64_t)PX_FIELDS_SIZE_MAX * 8)
		return fail_at(parser, at, layout_too_large);
	if (!field->name) {
		open->bit = open->made->is_union ? 0 : bit + width;
		open->largest = bit + width > open->largest ? bit + width : open->largest;
		return true;
	}
	if (align / 8 > open->made->align)
		open->made->align = align / 8;
	field->bit = (uint32_t)bit;
	field->bits = (uint32_t)width;
	return add_member(parser, open, field, width, 1, at);
}

static bool place_field(struct parser *parser, struct open_struct *open, struct px_field *field,
			const struct type *type, uint64_t nr, const char *at)
{
	uint32_t align = element_align(parser, type->align);
	uint64_t nr_values = nr, bit = align_up(open->bit, (uint64_t)align * 8);

	if (field->kind == PX_FIELD_STRUCT) {
		nr_values = nr * type->of->nr_values;
		if (type->of->depth >= PX_FIELDS_DEPTH)
			return fail_at(parser, at, "the structures are nested too deeply");
		if (type->of->depth + 1 > open->made->depth)
			open->made->depth = type->of->depth + 1;
	} else if (field->kind == PX_FIELD_CHAR && field->nr_dims > 0) {
		nr_values = field->is_rest ? 1 : nr / field->dim[field->nr_dims - 1];
	}
	if (align > open->made->align)
		open->made->align = align;
	if (field->is_rest)
		open->rest_at = at;
	if (nr * field->size > PX_FIELDS_SIZE_MAX || bit > (uint64_t)PX_FIELDS_SIZE_MAX * 8)
		return fail_at(parser, at, layout_too_large);
	field->bit = (uint32_t)bit;
	return add_member(parser, open, field, field->is_rest ? 0 : nr * field->size * 8, nr_values, at);
}

static bool has_member(const struct px_struct *made, const char *name, size_t length)
{
	for (const struct px_field *i = made->first; i; i = i->next)
		if (i->name ? is_word(name, length, i->name) :
			      i->of && has_member(i->of, name, length))
			return true;
	return false;
}

/* A pointer may lead to a type that is not known. */
static bool take_pointer(struct parser *parser, struct type *type)
{
	skip_blanks(parser);
	if (!take_char(parser, '*'))
		return true;
	if (!use_form(parser, FORM_C, parser->at - 1))
		return false;
	while (take_char(parser, '*') || take_word(parser, "const") || take_word(parser, "volatile") ||
	       take_word(parser, "restrict"))
		;
	*type = (struct type){.at = type->at};
	set_number(type, PX_FIELD_POINTER, parser->model.of_pointer);
	return true;
}

static bool take_declarator(struct parser *parser, struct open_struct *open, struct type type)
{
	struct px_field *field;
	const char *at;
	size_t length;
	uint64_t nr;

	if (!take_pointer(parser, &type))
		return false;
	length = word_here(parser);
	at = parser->at;
	if (++parser->nr_declarators > PX_FIELDS_MAX)
		return fail_at(parser, at, "there are too many fields");
	if (open->rest_at)
		return fail_at(parser, open->rest_at, "[] must be the last field");
	if (type.tag && !type.of)
		return fail_at(parser, type.at, "the type is not known");
	if (type.is_void)
		return fail_at(parser, type.at, "void has no values");
	if (length && has_member(open->made, at, length))
		return fail_at(parser, at, "there are two fields of this name");
	parser->at += length;
	field = take_memory(parser, sizeof(*field));
	if (!field || (length && !(field->name = take_name(parser, at, length))))
		return false;
	field->kind = type.kind;
	field->size = type.size;
	field->of = type.of;
	field->names = type.names;
	if (!take_dimensions(parser, field, &nr))
		return false;
	if (take_char(parser, ':'))
		return place_bit_field(parser, open, field, &type, at);
	if (!length && type.kind != PX_FIELD_STRUCT)
		return fail_at(parser, at, "a name is missing");
	if (!length && (type.tag || type.is_definition || field->nr_dims))
		return fail_at(parser, at, "a name is missing");
	for (const struct px_field *i = length ? NULL : type.of->first; i; i = i->next)
		if (i->name && has_member(open->made, i->name, strlen(i->name)))
			return fail_at(parser, type.at, "there are two fields of one name");
	return place_field(parser, open, field, &type, nr, at);
}

static bool take_pad(struct parser *parser, struct open_struct *open)
{
	const char *before = parser->at;
	uint64_t bytes;

	if (!take_word(parser, "pad"))
		return false;
	skip_blanks(parser);
	if (parser->at == parser->end || !is_digit(*parser->at)) {
		parser->at = before;
		return false;
	}
	before = parser->at;
	if (!use_form(parser, FORM_SHORT, before) || !take_number(parser, &bytes))
		return true;
	if (bytes > PX_FIELDS_SIZE_MAX || open->bit / 8 + bytes > PX_FIELDS_SIZE_MAX) {
		fail_at(parser, before, layout_too_large);
		return true;
	}
	bytes = align_up(open->bit, 8) + bytes * 8;
	open->bit = open->made->is_union ? 0 : bytes;
	open->largest = bytes > open->largest ? bytes : open->largest;
	return true;
}

static bool take_declaration(struct parser *parser, struct open_struct *open)
{
	struct type type;

	skip_blanks(parser);
	if (take_pad(parser, open))
		return !parser->failure;
	if (!take_type(parser, &type))
		return false;
	skip_blanks(parser);
	if (type.is_definition && (parser->at == parser->end || *parser->at == ';'))
		return true;
	do {
		if (!take_declarator(parser, open, type))
			return false;
	} while (take_char(parser, ','));
	return true;
}

static bool end_struct(struct parser *parser, struct open_struct *open, const char *at)
{
	struct px_struct *made = open->made;
	uint64_t size = align_up(open->largest, (uint64_t)made->align * 8) / 8;

	if (size > PX_FIELDS_SIZE_MAX)
		return fail_at(parser, at, layout_too_large);
	made->size = (uint32_t)size;
	return true;
}

static bool take_members(struct parser *parser, struct px_struct *made, bool is_top)
{
	struct open_struct open = {.made = made};

	made->align = 1;
	made->depth = 1;
	for (;;) {
		while (take_char(parser, ';'))
			;
		skip_blanks(parser);
		if (is_top ? parser->at == parser->end : take_char(parser, '}'))
			break;
		if (parser->at == parser->end)
			return fail_at(parser, parser->at, "a } is missing");
		if (!take_declaration(parser, &open))
			return false;
		skip_blanks(parser);
		if (parser->at < parser->end && *parser->at != ';' && !(*parser->at == '}' && !is_top))
			return fail_at(parser, parser->at, "a ; is missing");
	}
	if (!is_top && !made->first)
		return fail_at(parser, parser->at - 1, "the structure has no fields");
	if (!is_top && open.rest_at)
		return fail_at(parser, open.rest_at, "[] must not be within a structure");
	return end_struct(parser, &open, parser->at);
}

/* The whole text. */

/* Return true if the text is nothing but the name of a type. */
static bool take_reference(struct parser *parser)
{
	static const char *const kinds[] = {"struct ", "union ", ""};
	const char *begin, *kind = kinds[2];
	struct type type = {.kind = PX_FIELD_UNSIGNED};
	enum form form = parser->form;
	bool is_number = false;
	size_t length;
	char *name;

	skip_blanks(parser);
	begin = parser->at;
	if (take_word(parser, "struct"))
		kind = kinds[0];
	else if (take_word(parser, "union"))
		kind = kinds[1];
	else if (!take_number_type(parser, &type, &is_number) || is_number || take_word(parser, "enum"))
		goto other;
	length = word_here(parser);
	if (length > 0) {
		const char *tag = parser->at;

		parser->at += length;
		while (take_char(parser, ';'))
			;
		skip_blanks(parser);
		if (parser->at == parser->end) {
			name = take_memory(parser, strlen(kind) + length + 1);
			if (name) {
				memcpy(name, kind, strlen(kind));
				memcpy(name + strlen(kind), tag, length);
				parser->fields->reference = name;
			}
			return true;
		}
	}
other:
	parser->at = begin;
	parser->form = form;
	parser->failure = 0;
	return false;
}

static void take_text(struct parser *parser)
{
	struct px_struct *top;

	if (take_reference(parser))
		return;
	top = take_memory(parser, sizeof(*top));
	if (!top || !take_members(parser, top, true))
		return;
	parser->fields->top = top;
	if (top->first)
		return;
	parser->fields->top = parser->structs;
	while (parser->fields->top && !parser->fields->top->tag)
		parser->fields->top = parser->fields->top->next;
	if (!parser->fields->top)
		fail_at(parser, parser->end, "there are no fields");
}

static void free_blocks(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
}

static void parse_as(struct parser *parser, enum form form, const char *text, size_t length,
		     const struct px_fields_model *model)
{
	*parser = (struct parser){
		.begin = text, .at = text, .end = text + length, .form = form, .model = *model};
	if (length > PX_FIELDS_TEXT_MAX) {
		fail_at(parser, text + PX_FIELDS_TEXT_MAX, "the description is too long");
		return;
	}
	parser->fields = take_memory(parser, sizeof(*parser->fields));
	if (parser->fields)
		take_text(parser);
}

/* Types that come late in the text may show the form, on which the layout of the first ones depends. */
int px_fields_parse(const char *text, size_t length, const struct px_fields_model *model,
		    struct px_fields **fields, struct px_fields_error *error)
{
	struct parser parser;

	parse_as(&parser, FORM_OPEN, text, length, model);
	if (parser.form == FORM_SHORT && parser.failure != ENOMEM) {
		free_blocks(parser.blocks);
		parse_as(&parser, FORM_SHORT, text, length, model);
	}
	if (parser.failure) {
		if (parser.failure == EINVAL)
			*error = parser.error;
		free_blocks(parser.blocks);
		return parser.failure;
	}
	parser.fields->is_big = model->is_big;
	parser.fields->memory = parser.blocks;
	*fields = parser.fields;
	return 0;
}

void px_fields_free(struct px_fields *fields)
{
	if (fields)
		free_blocks(fields->memory);
}

struct px_fields_model px_fields_native(void)
{
	static const union {
		uint16_t number;
		unsigned char bytes[2];
	} one = {1};
	struct aligned {
		char byte;
		union {
			uint64_t u;
			double d;
		} member;
	};
	struct longest {
		char byte;
		long double member;
	};

	return (struct px_fields_model){
		.of_long = sizeof(long),
		.of_pointer = sizeof(void *),
		.of_long_double = sizeof(long double),
		.align_max = offsetof(struct aligned, member) > offsetof(struct longest, member) ?
				     offsetof(struct aligned, member) :
				     offsetof(struct longest, member),
		.is_big = one.bytes[0] == 0,
	};
}
