/* SPDX-License-Identifier: MIT */
/* The grammar is that of RFC 2603.  A symbol is untrusted data: the depth and the length of the result are limited. */
#include "trace/demangle_rust.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEPTH_MAX 64
#define NAME_MAX_BYTES 1024
#define STEPS_MAX 4096 /* back references can make a short symbol long */

struct mangled {
	const char *text; /* after "_R" */
	size_t at, length;
	unsigned int depth, nr_steps;
	bool is_wrong, is_silent;
	size_t used;
	char name[NAME_MAX_BYTES];
};

static void read_path(struct mangled *symbol, bool is_value);
static void read_type(struct mangled *symbol);

static void __attribute__((format(printf, 2, 3))) put(struct mangled *symbol, const char *format, ...)
{
	size_t room = sizeof(symbol->name) - symbol->used;
	va_list arguments;
	int length;

	if (symbol->is_silent || symbol->is_wrong)
		return;
	va_start(arguments, format);
	length = vsnprintf(symbol->name + symbol->used, room, format, arguments);
	va_end(arguments);
	symbol->is_wrong = length < 0 || (size_t)length >= room;
	if (!symbol->is_wrong)
		symbol->used += (size_t)length;
}

static char peek(const struct mangled *symbol)
{
	return symbol->at < symbol->length && !symbol->is_wrong ? symbol->text[symbol->at] : '\0';
}

static char next(struct mangled *symbol)
{
	char c = peek(symbol);

	if (c)
		symbol->at++;
	else
		symbol->is_wrong = true;
	return c;
}

static bool take(struct mangled *symbol, char c)
{
	if (peek(symbol) != c)
		return false;
	symbol->at++;
	return true;
}

static uint64_t read_base62(struct mangled *symbol)
{
	uint64_t value = 0;
	char c;

	if (take(symbol, '_'))
		return 0;
	while ((c = next(symbol)) != '_' && !symbol->is_wrong) {
		unsigned int digit = isdigit(c) ? (unsigned int)(c - '0') :
				     islower(c) ? (unsigned int)(c - 'a') + 10 :
						  (unsigned int)(c - 'A') + 36;

		symbol->is_wrong |= !isalnum(c) || __builtin_mul_overflow(value, 62, &value) ||
				    __builtin_add_overflow(value, digit, &value);
	}
	return value + 1;
}

static uint64_t read_optional(struct mangled *symbol, char tag)
{
	return take(symbol, tag) ? read_base62(symbol) + 1 : 0;
}

/* Read an identifier, and return its text, which has no null byte. */
static const char *read_identifier(struct mangled *symbol, int *length, uint64_t *number)
{
	const char *text;
	size_t bytes = 0;

	*number = read_optional(symbol, 's');
	symbol->is_wrong |= take(symbol, 'u'); /* letters outside of ASCII */
	symbol->is_wrong |= !isdigit(peek(symbol));
	if (!take(symbol, '0'))
		while (isdigit(peek(symbol)) && bytes < NAME_MAX_BYTES)
			bytes = bytes * 10 + (size_t)(next(symbol) - '0');
	take(symbol, '_');
	text = symbol->text + symbol->at;
	if (symbol->is_wrong || bytes > symbol->length - symbol->at) {
		symbol->is_wrong = true;
		bytes = 0;
	}
	symbol->at += bytes;
	*length = (int)bytes;
	return text;
}

/* Return false if the symbol is nested too deep.  Else the caller calls leave() later. */
static bool enter(struct mangled *symbol)
{
	symbol->is_wrong |= ++symbol->depth > DEPTH_MAX || ++symbol->nr_steps > STEPS_MAX;
	return !symbol->is_wrong;
}

static void leave(struct mangled *symbol)
{
	symbol->depth--;
}

static void read_reference(struct mangled *symbol, void (*read)(struct mangled *symbol))
{
	size_t start = symbol->at - 1, to = (size_t)read_base62(symbol), back = symbol->at;

	symbol->is_wrong |= to >= start;
	if (symbol->is_wrong || symbol->is_silent)
		return;
	symbol->at = to;
	read(symbol);
	symbol->at = back;
}

static void read_constant(struct mangled *symbol)
{
	char type = next(symbol);
	const char *digits;
	size_t first;

	if (type == 'B') {
		read_reference(symbol, read_constant);
		return;
	}
	if (type == 'p') {
		put(symbol, "_");
		return;
	}
	if (take(symbol, 'n'))
		put(symbol, "-");
	first = symbol->at;
	digits = symbol->text + first;
	while (isxdigit(peek(symbol)))
		symbol->at++;
	symbol->is_wrong |= !strchr("abchijlmnostxy", type) || symbol->at - first > 16;
	if (type == 'b')
		put(symbol, "%s", *digits == '1' ? "true" : "false");
	else
		put(symbol, "%llu", strtoull(digits, NULL, 16)); /* the digits end with '_' */
	symbol->is_wrong |= !take(symbol, '_');
}

static void read_arguments(struct mangled *symbol)
{
	for (int nr = 0; !symbol->is_wrong && !take(symbol, 'E');) {
		if (take(symbol, 'L')) { /* a lifetime */
			read_base62(symbol);
			continue;
		}
		put(symbol, nr++ > 0 ? ", " : "");
		if (take(symbol, 'K'))
			read_constant(symbol);
		else
			read_type(symbol);
	}
}

static void read_nested(struct mangled *symbol, bool is_value)
{
	char kind = next(symbol);
	const char *text;
	uint64_t number;
	int length;

	read_path(symbol, is_value);
	text = read_identifier(symbol, &length, &number);
	if (isupper(kind))
		put(symbol, "::{%s%s%.*s#%" PRIu64 "}", kind == 'C' ? "closure" : kind == 'S' ? "shim" : "item",
		    length > 0 ? ":" : "", length, text, number);
	else if (length > 0)
		put(symbol, "::%.*s", length, text);
}

/* The path of an implementation is not part of the name. */
static void skip_implementation(struct mangled *symbol)
{
	bool was_silent = symbol->is_silent;

	read_optional(symbol, 's');
	symbol->is_silent = true;
	read_path(symbol, false);
	symbol->is_silent = was_silent;
}

static void read_path_of_type(struct mangled *symbol)
{
	read_path(symbol, false);
}

static void read_path_of_value(struct mangled *symbol)
{
	read_path(symbol, true);
}

static void read_path(struct mangled *symbol, bool is_value)
{
	const char *text;
	uint64_t number;
	size_t before, begin;
	int length;
	char kind;

	if (!enter(symbol))
		return;
	switch (kind = next(symbol)) {
	case 'C':
		text = read_identifier(symbol, &length, &number);
		put(symbol, "%.*s", length, text);
		break;
	case 'M':
	case 'X':
		skip_implementation(symbol);
		__attribute__((fallthrough)); /* clang does not read comments */
	case 'Y':
		put(symbol, "<");
		read_type(symbol);
		if (kind != 'M') {
			put(symbol, " as ");
			read_path(symbol, false);
		}
		put(symbol, ">");
		break;
	case 'N':
		read_nested(symbol, is_value);
		break;
	case 'I':
		read_path(symbol, is_value);
		before = symbol->used;
		put(symbol, is_value ? "::<" : "<");
		begin = symbol->used;
		read_arguments(symbol);
		if (symbol->used > begin)
			put(symbol, ">");
		else /* there are lifetimes only */
			symbol->used = before;
		break;
	case 'B':
		read_reference(symbol, is_value ? read_path_of_value : read_path_of_type);
		break;
	default:
		symbol->is_wrong = true;
	}
	leave(symbol);
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32",
		"i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!"};

	return islower(c) ? names[c - 'a'] : NULL;
}

static void read_function(struct mangled *symbol)
{
	const char *text;
	uint64_t number;
	int length, nr = 0;

	read_optional(symbol, 'G');
	put(symbol, take(symbol, 'U') ? "unsafe " : "");
	if (take(symbol, 'K')) {
		if (take(symbol, 'C')) {
			put(symbol, "extern \"C\" ");
		} else {
			text = read_identifier(symbol, &length, &number);
			put(symbol, "extern \"%.*s\" ", length, text);
		}
	}
	put(symbol, "fn(");
	while (!symbol->is_wrong && !take(symbol, 'E')) {
		put(symbol, nr++ > 0 ? ", " : "");
		read_type(symbol);
	}
	put(symbol, ")");
	if (take(symbol, 'u'))
		return;
	put(symbol, " -> ");
	read_type(symbol);
}

static void read_dynamic(struct mangled *symbol)
{
	const char *text;
	uint64_t number;
	int length, nr = 0;

	put(symbol, "dyn ");
	read_optional(symbol, 'G');
	while (!symbol->is_wrong && !take(symbol, 'E')) {
		put(symbol, nr++ > 0 ? " + " : "");
		read_path(symbol, false);
		while (take(symbol, 'p')) {
			text = read_identifier(symbol, &length, &number);
			put(symbol, "<%.*s = ", length, text);
			read_type(symbol);
			put(symbol, ">");
		}
	}
	symbol->is_wrong |= !take(symbol, 'L');
	read_base62(symbol);
}

static void read_pointer(struct mangled *symbol, const char *sign)
{
	if (*sign == '&' && take(symbol, 'L'))
		read_base62(symbol);
	put(symbol, "%s", sign);
	read_type(symbol);
}

static void read_tuple(struct mangled *symbol)
{
	int nr = 0;

	put(symbol, "(");
	for (; !symbol->is_wrong && !take(symbol, 'E'); nr++) {
		put(symbol, nr > 0 ? ", " : "");
		read_type(symbol);
	}
	put(symbol, nr == 1 ? ",)" : ")");
}

static void read_list(struct mangled *symbol, bool has_length)
{
	put(symbol, "[");
	read_type(symbol);
	if (has_length) {
		put(symbol, "; ");
		read_constant(symbol);
	}
	put(symbol, "]");
}

static void read_type(struct mangled *symbol)
{
	const char *basic = basic_type(peek(symbol));

	if (!enter(symbol))
		return;
	switch (basic ? next(symbol) : peek(symbol)) {
	case 'A':
	case 'S':
		read_list(symbol, next(symbol) == 'A');
		break;
	case 'T':
		next(symbol);
		read_tuple(symbol);
		break;
	case 'R':
	case 'Q':
		read_pointer(symbol, next(symbol) == 'R' ? "&" : "&mut ");
		break;
	case 'P':
	case 'O':
		read_pointer(symbol, next(symbol) == 'P' ? "*const " : "*mut ");
		break;
	case 'F':
		next(symbol);
		read_function(symbol);
		break;
	case 'D':
		next(symbol);
		read_dynamic(symbol);
		break;
	case 'B':
		next(symbol);
		read_reference(symbol, read_type);
		break;
	default:
		if (basic)
			put(symbol, "%s", basic);
		else
			read_path(symbol, false);
	}
	leave(symbol);
}

char *demangle_rust(const char *text)
{
	struct mangled symbol = {.text = text + 2, .length = strcspn(text, ".$")};

	if (strncmp(text, "_R", 2) != 0 || !isupper(text[2]))
		return NULL;
	symbol.length -= 2;
	read_path(&symbol, true);
	return symbol.is_wrong || symbol.used == 0 ? NULL : must(strndup(symbol.name, symbol.used));
}
