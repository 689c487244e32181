/* SPDX-License-Identifier: MIT */
/* Members, their layout, and the whole text. */
#include <float.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/parser.h"

/* A structure whose members are being read. */
struct open_struct {
	struct px_struct *made;
	uint64_t bit, largest; /* end of the last member; of a union, of its largest member */
	const char *rest_at;   /* the member that takes the rest of the data, or NULL */
};

static const char layout_too_large[] = "the data are too large";

static uint32_t element_align(const struct px_fields_parser *parser, uint32_t align)
{
	if (parser->form == FORM_SHORT || align == 0)
		return 1;
	return align < parser->model.align_max ? align : parser->model.align_max;
}

/* Parse the dimensions of an array.  *nr: the number of elements. */
static bool take_dimensions(struct px_fields_parser *parser, struct px_field *field, uint64_t *nr)
{
	*nr = 1;
	for (;;) {
		const char *at;
		uint64_t dim;

		px_fields_skip_blanks(parser);
		at = parser->at;
		if (!px_fields_take_char(parser, '['))
			return true;
		if (field->is_rest)
			return px_fields_fail(parser, at, "only one dimension may be open");
		if (field->nr_dims == PX_FIELDS_DIMS)
			return px_fields_fail(parser, at, "the array has too many dimensions");
		if (px_fields_take_char(parser, ']')) {
			if (field->nr_dims > 0)
				return px_fields_fail(parser, at, "only one dimension may be open");
			field->is_rest = true;
			field->nr_dims = 1;
			continue;
		}
		at = parser->at;
		if (!px_fields_take_number(parser, &dim))
			return false;
		if (dim == 0)
			return px_fields_fail(parser, at,
					      "an array has at least one element; [] is the rest of the data");
		if (dim > PX_FIELDS_SIZE_MAX || *nr * dim > PX_FIELDS_SIZE_MAX)
			return px_fields_fail(parser, at, layout_too_large);
		*nr *= dim;
		field->dim[field->nr_dims++] = (uint32_t)dim;
		if (!px_fields_take_char(parser, ']'))
			return px_fields_fail(parser, parser->at, "a ] is missing");
	}
}

static uint64_t align_up(uint64_t bit, uint64_t align)
{
	return (bit + align - 1) / align * align;
}

/* Enter the member, which takes so many bits from field->bit on, into the structure. */
static bool add_member(struct px_fields_parser *parser, struct open_struct *open, struct px_field *field,
		       uint64_t bits, uint64_t nr_values, const char *at)
{
	struct px_struct *made = open->made;
	uint64_t end = field->bit + bits;

	if (end > (uint64_t)PX_FIELDS_SIZE_MAX * 8)
		return px_fields_fail(parser, at, layout_too_large);
	if (nr_values + made->nr_values > PX_FIELDS_VALUES_MAX)
		return px_fields_fail(parser, at, "the data have too many values");
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

static bool place_bit_field(struct px_fields_parser *parser, struct open_struct *open, struct px_field *field,
			    const struct px_fields_type *type, const char *at)
{
	uint32_t align = element_align(parser, type->align) * 8, unit = type->size * 8;
	uint64_t width, bit = open->bit;
	const char *width_at;

	px_fields_skip_blanks(parser);
	width_at = parser->at;
	if (!px_fields_take_number(parser, &width))
		return false;
	if (type->kind == PX_FIELD_FLOAT || type->kind == PX_FIELD_STRUCT ||
	    type->kind == PX_FIELD_POINTER || type->is_void || !type->size || field->nr_dims)
		return px_fields_fail(parser, at, "only an integer can be a bit-field");
	if (width > (type->kind == PX_FIELD_BOOL ? 1 : unit) || (width == 0 && field->name))
		return px_fields_fail(parser, width_at, "the type has not so many bits");
	/* System V ABI: a bit-field does not cross a boundary of its type. */
	if (parser->form != FORM_SHORT && (width == 0 || bit % align + width > unit))
		bit = align_up(bit, width == 0 ? unit : align);
	else if (parser->form == FORM_SHORT && width == 0)
		bit = align_up(bit, 8);
	if (bit + width > (uint64_t)PX_FIELDS_SIZE_MAX * 8)
		return px_fields_fail(parser, at, layout_too_large);
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

static bool place_field(struct px_fields_parser *parser, struct open_struct *open, struct px_field *field,
			const struct px_fields_type *type, uint64_t nr, const char *at)
{
	uint32_t align = element_align(parser, type->align);
	uint64_t nr_values = nr, bit = align_up(open->bit, (uint64_t)align * 8);

	if (field->kind == PX_FIELD_STRUCT) {
		nr_values = nr * type->of->nr_values;
		if (type->of->depth >= PX_FIELDS_DEPTH)
			return px_fields_fail(parser, at, "the structures are nested too deeply");
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
		return px_fields_fail(parser, at, layout_too_large);
	field->bit = (uint32_t)bit;
	return add_member(parser, open, field, field->is_rest ? 0 : nr * field->size * 8, nr_values, at);
}

static bool has_member(const struct px_struct *made, const char *name, size_t length)
{
	for (const struct px_field *i = made->first; i; i = i->next)
		if (i->name ? px_fields_is_word(name, length, i->name) :
			      i->of && has_member(i->of, name, length))
			return true;
	return false;
}

/* A pointer may lead to a type that is not known. */
static bool take_pointer(struct px_fields_parser *parser, struct px_fields_type *type)
{
	px_fields_skip_blanks(parser);
	if (!px_fields_take_char(parser, '*'))
		return true;
	if (!px_fields_use_form(parser, FORM_C, parser->at - 1))
		return false;
	while (px_fields_take_char(parser, '*') || px_fields_take_word(parser, "const") ||
	       px_fields_take_word(parser, "volatile") || px_fields_take_word(parser, "restrict"))
		;
	*type = (struct px_fields_type){.at = type->at};
	px_fields_set_number(type, PX_FIELD_POINTER, parser->model.of_pointer);
	return true;
}

static bool take_declarator(struct px_fields_parser *parser, struct open_struct *open, struct px_fields_type type)
{
	struct px_field *field;
	const char *at;
	size_t length;
	uint64_t nr;

	if (!take_pointer(parser, &type))
		return false;
	length = px_fields_word_here(parser);
	at = parser->at;
	if (++parser->nr_declarators > PX_FIELDS_MAX)
		return px_fields_fail(parser, at, "there are too many fields");
	if (open->rest_at)
		return px_fields_fail(parser, open->rest_at, "[] must be the last field");
	if (type.tag && !type.of)
		return px_fields_fail(parser, type.at, "the type is not known");
	if (type.is_void)
		return px_fields_fail(parser, type.at, "void has no values");
	if (length && has_member(open->made, at, length))
		return px_fields_fail(parser, at, "there are two fields of this name");
	parser->at += length;
	field = px_fields_alloc(parser, sizeof(*field));
	if (!field || (length && !(field->name = px_fields_copy_name(parser, at, length))))
		return false;
	field->kind = type.kind;
	field->size = type.size;
	field->of = type.of;
	field->names = type.names;
	if (!take_dimensions(parser, field, &nr))
		return false;
	if (px_fields_take_char(parser, ':'))
		return place_bit_field(parser, open, field, &type, at);
	if (!length && type.kind != PX_FIELD_STRUCT)
		return px_fields_fail(parser, at, "a name is missing");
	if (!length && (type.tag || type.is_definition || field->nr_dims))
		return px_fields_fail(parser, at, "a name is missing");
	for (const struct px_field *i = length ? NULL : type.of->first; i; i = i->next)
		if (i->name && has_member(open->made, i->name, strlen(i->name)))
			return px_fields_fail(parser, type.at, "there are two fields of one name");
	return place_field(parser, open, field, &type, nr, at);
}

static bool take_pad(struct px_fields_parser *parser, struct open_struct *open)
{
	const char *before = parser->at;
	uint64_t bytes;

	if (!px_fields_take_word(parser, "pad"))
		return false;
	px_fields_skip_blanks(parser);
	if (parser->at == parser->end || !px_fields_is_digit(*parser->at)) {
		parser->at = before;
		return false;
	}
	before = parser->at;
	if (!px_fields_use_form(parser, FORM_SHORT, before) || !px_fields_take_number(parser, &bytes))
		return true;
	if (bytes > PX_FIELDS_SIZE_MAX || open->bit / 8 + bytes > PX_FIELDS_SIZE_MAX) {
		px_fields_fail(parser, before, layout_too_large);
		return true;
	}
	bytes = align_up(open->bit, 8) + bytes * 8;
	open->bit = open->made->is_union ? 0 : bytes;
	open->largest = bytes > open->largest ? bytes : open->largest;
	return true;
}

static bool take_declaration(struct px_fields_parser *parser, struct open_struct *open)
{
	struct px_fields_type type;

	px_fields_skip_blanks(parser);
	if (take_pad(parser, open))
		return !parser->failure;
	if (!px_fields_take_type(parser, &type))
		return false;
	px_fields_skip_blanks(parser);
	if (type.is_definition && (parser->at == parser->end || *parser->at == ';'))
		return true;
	do {
		if (!take_declarator(parser, open, type))
			return false;
	} while (px_fields_take_char(parser, ','));
	return true;
}

static bool end_struct(struct px_fields_parser *parser, struct open_struct *open, const char *at)
{
	struct px_struct *made = open->made;
	uint64_t size = align_up(open->largest, (uint64_t)made->align * 8) / 8;

	if (size > PX_FIELDS_SIZE_MAX)
		return px_fields_fail(parser, at, layout_too_large);
	made->size = (uint32_t)size;
	return true;
}

bool px_fields_take_members(struct px_fields_parser *parser, struct px_struct *made, bool is_top)
{
	struct open_struct open = {.made = made};

	made->align = 1;
	made->depth = 1;
	for (;;) {
		while (px_fields_take_char(parser, ';'))
			;
		px_fields_skip_blanks(parser);
		if (is_top ? parser->at == parser->end : px_fields_take_char(parser, '}'))
			break;
		if (parser->at == parser->end)
			return px_fields_fail(parser, parser->at, "a } is missing");
		if (!take_declaration(parser, &open))
			return false;
		px_fields_skip_blanks(parser);
		if (parser->at < parser->end && *parser->at != ';' && !(*parser->at == '}' && !is_top))
			return px_fields_fail(parser, parser->at, "a ; is missing");
	}
	if (!is_top && !made->first)
		return px_fields_fail(parser, parser->at - 1, "the structure has no fields");
	if (!is_top && open.rest_at)
		return px_fields_fail(parser, open.rest_at, "[] must not be within a structure");
	return end_struct(parser, &open, parser->at);
}

/* The whole text. */

/* Return true if the text is nothing but the name of a type. */
static bool take_reference(struct px_fields_parser *parser)
{
	static const char *const kinds[] = {"struct ", "union ", ""};
	const char *begin, *kind = kinds[2];
	struct px_fields_type type = {.kind = PX_FIELD_UNSIGNED};
	enum px_fields_form form = parser->form;
	bool is_number = false;
	size_t length;
	char *name;

	px_fields_skip_blanks(parser);
	begin = parser->at;
	if (px_fields_take_word(parser, "struct"))
		kind = kinds[0];
	else if (px_fields_take_word(parser, "union"))
		kind = kinds[1];
	else if (!px_fields_take_number_type(parser, &type, &is_number) || is_number ||
		 px_fields_take_word(parser, "enum"))
		goto other;
	length = px_fields_word_here(parser);
	if (length > 0) {
		const char *tag = parser->at;

		parser->at += length;
		while (px_fields_take_char(parser, ';'))
			;
		px_fields_skip_blanks(parser);
		if (parser->at == parser->end) {
			name = px_fields_alloc(parser, strlen(kind) + length + 1);
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

static void take_text(struct px_fields_parser *parser)
{
	struct px_struct *top;

	if (take_reference(parser))
		return;
	top = px_fields_alloc(parser, sizeof(*top));
	if (!top || !px_fields_take_members(parser, top, true))
		return;
	parser->fields->top = top;
	if (top->first)
		return;
	parser->fields->top = parser->structs;
	while (parser->fields->top && !parser->fields->top->tag)
		parser->fields->top = parser->fields->top->next;
	if (!parser->fields->top)
		px_fields_fail(parser, parser->end, "there are no fields");
}

static void free_blocks(struct px_fields_block *block)
{
	while (block) {
		struct px_fields_block *next = block->next;

		free(block);
		block = next;
	}
}

static void parse_as(struct px_fields_parser *parser, enum px_fields_form form, const char *text, size_t length,
		     const struct px_fields_model *model)
{
	*parser = (struct px_fields_parser){
		.begin = text, .at = text, .end = text + length, .form = form, .model = *model};
	if (length > PX_FIELDS_TEXT_MAX) {
		px_fields_fail(parser, text + PX_FIELDS_TEXT_MAX, "the description is too long");
		return;
	}
	parser->fields = px_fields_alloc(parser, sizeof(*parser->fields));
	if (parser->fields)
		take_text(parser);
}

/* Types that come late in the text may show the form, on which the layout of the first ones depends. */
int px_fields_parse(const char *text, size_t length, const struct px_fields_model *model,
		    struct px_fields **fields, struct px_fields_error *error)
{
	struct px_fields_parser parser;

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
	parser.fields->long_double_digits = model->long_double_digits;
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
		.long_double_digits = LDBL_MANT_DIG,
		.align_max = offsetof(struct aligned, member) > offsetof(struct longest, member) ?
				     offsetof(struct aligned, member) :
				     offsetof(struct longest, member),
		.is_big = one.bytes[0] == 0,
	};
}

bool px_fields_is_native(const struct px_fields_model *model)
{
	const struct px_fields_model ours = px_fields_native();

	return model->of_long == ours.of_long && model->of_pointer == ours.of_pointer &&
	       model->align_max == ours.align_max && model->is_big == ours.is_big &&
	       model->of_long_double == ours.of_long_double && model->long_double_digits == ours.long_double_digits;
}
