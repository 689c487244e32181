/* SPDX-License-Identifier: MIT */
/* The tokens of descriptions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/parser.h"

bool px_fields_fail(struct px_fields_parser *parser, const char *at, const char *what)
{
	if (!parser->failure) {
		parser->failure = EINVAL;
		parser->error.column = (size_t)(at - parser->begin) + 1;
		parser->error.what = what;
	}
	return false;
}

void *px_fields_alloc(struct px_fields_parser *parser, size_t size)
{
	struct px_fields_block *block = calloc(1, sizeof(*block) + size);

	if (!block) {
		parser->failure = ENOMEM;
		return NULL;
	}
	block->next = parser->blocks;
	parser->blocks = block;
	return block->memory;
}

const char *px_fields_copy_name(struct px_fields_parser *parser, const char *text, size_t length)
{
	char *name = px_fields_alloc(parser, length + 1);

	if (name)
		memcpy(name, text, length);
	return name;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_line(struct px_fields_parser *parser)
{
	while (parser->at < parser->end && *parser->at != '\n')
		parser->at++;
}

/* A comment that does not end goes to the end of the text, where something is missing. */
static void skip_comment(struct px_fields_parser *parser)
{
	for (parser->at += 2; parser->end - parser->at >= 2; parser->at++) {
		if (parser->at[0] == '*' && parser->at[1] == '/') {
			parser->at += 2;
			return;
		}
	}
	parser->at = parser->end;
}

void px_fields_skip_blanks(struct px_fields_parser *parser)
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

size_t px_fields_word_here(struct px_fields_parser *parser)
{
	const char *at;

	px_fields_skip_blanks(parser);
	at = parser->at;
	if (at == parser->end || !is_letter(*at))
		return 0;
	while (at < parser->end && (is_letter(*at) || px_fields_is_digit(*at)))
		at++;
	return (size_t)(at - parser->at);
}

bool px_fields_is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool px_fields_take_word(struct px_fields_parser *parser, const char *word)
{
	size_t length = px_fields_word_here(parser);

	if (!px_fields_is_word(parser->at, length, word))
		return false;
	parser->at += length;
	return true;
}

bool px_fields_take_char(struct px_fields_parser *parser, char c)
{
	px_fields_skip_blanks(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static int digit_of(char c)
{
	if (px_fields_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool px_fields_take_number(struct px_fields_parser *parser, uint64_t *number)
{
	const char *begin;
	int base = 10;

	px_fields_skip_blanks(parser);
	begin = parser->at;
	*number = 0;
	if (begin == parser->end || !px_fields_is_digit(*begin))
		return px_fields_fail(parser, begin, "a number is missing");
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
			return px_fields_fail(parser, begin, "the number is too large");
		*number = *number * (uint64_t)base + digit;
	}
	while (parser->at < parser->end && strchr("uUlL", *parser->at) && *parser->at)
		parser->at++;
	if (parser->at < parser->end && (is_letter(*parser->at) || px_fields_is_digit(*parser->at)))
		return px_fields_fail(parser, begin, "this is not a number");
	return true;
}
