/* SPDX-License-Identifier: MIT */
/*
 * The parser of descriptions: what its files share.  All functions return false after an error, which the parser keeps.
 */
#ifndef PX_FIELDS_PARSER_H
#define PX_FIELDS_PARSER_H

#include "fields/fields.h"

enum px_fields_form { FORM_OPEN, FORM_SHORT, FORM_C };

/* A type, before a declarator. */
struct px_fields_type {
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

struct px_fields_block {
	struct px_fields_block *next;
	max_align_t memory[];
};

struct px_fields_parser {
	const char *begin, *at, *end;
	enum px_fields_form form;
	struct px_fields_model model;
	struct px_fields *fields;
	struct px_fields_block *blocks;
	struct px_struct *structs; /* the newest first */
	struct px_enum *enums;
	uint32_t nr_declarators;
	unsigned int level;
	struct px_fields_error error;
	int failure;
};

static inline bool px_fields_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Keep the first error, at this place of the text.  Return false. */
bool px_fields_fail(struct px_fields_parser *parser, const char *at, const char *what);

/* Allocate memory, filled with zeros, that is released with the parser or with its result.  NULL: there is none. */
void *px_fields_alloc(struct px_fields_parser *parser, size_t size);
const char *px_fields_copy_name(struct px_fields_parser *parser, const char *text, size_t length);

/* Tokens. */

void px_fields_skip_blanks(struct px_fields_parser *parser);
/* Return the length of the word here; 0: here is no word. */
size_t px_fields_word_here(struct px_fields_parser *parser);
bool px_fields_is_word(const char *text, size_t length, const char *word);
/* Skip this word, or this character, if it is here. */
bool px_fields_take_word(struct px_fields_parser *parser, const char *word);
bool px_fields_take_char(struct px_fields_parser *parser, char c);
/* Read a number without a sign: decimal, 0x or octal, as in C. */
bool px_fields_take_number(struct px_fields_parser *parser, uint64_t *number);

/* Types. */

/* Note that the text has this form. */
bool px_fields_use_form(struct px_fields_parser *parser, enum px_fields_form form, const char *at);
void px_fields_set_number(struct px_fields_type *type, enum px_field_kind kind, uint32_t size);
/* Read a type of numbers.  *is_found is false if here is none. */
bool px_fields_take_number_type(struct px_fields_parser *parser, struct px_fields_type *type, bool *is_found);
/* Read a type before a declarator. */
bool px_fields_take_type(struct px_fields_parser *parser, struct px_fields_type *type);
/* Read the members of a structure, up to its } or, if is_top, to the end of the text. */
bool px_fields_take_members(struct px_fields_parser *parser, struct px_struct *made, bool is_top);

#endif
