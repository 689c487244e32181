/* SPDX-License-Identifier: MIT */
#include "sql/unsigned.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/bounds.h"

void sql_put_unsigned(struct sql_cell *cell, uint64_t number)
{
	if (number <= INT64_MAX) {
		sql_put_integer(cell, (int64_t)number);
		return;
	}
	sql_put_string(cell, cell->own,
		       (size_t)snprintf(cell->own, sizeof(cell->own), "%llu", (unsigned long long)number));
	cell->kind = CELL_UNSIGNED;
	cell->integer = (int64_t)number;
}

static bool is_digits(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return length > 0;
}

static int compare(void *argument, int one_length, const void *one, int other_length, const void *other)
{
	int length = one_length < other_length ? one_length : other_length;
	int order;

	(void)argument;
	if (one_length != other_length && is_digits(one, (size_t)one_length) &&
	    is_digits(other, (size_t)other_length))
		return one_length - other_length;
	order = memcmp(one, other, (size_t)length);
	return order != 0 ? order : one_length - other_length;
}

int sql_unsigned_add(sqlite3 *sqlite)
{
	return sqlite3_create_collation_v2(sqlite, SQL_UINT, SQLITE_UTF8, NULL, compare, NULL);
}

/* The value must keep its type, because SQLite compares it again.  So this does not ask SQLite to convert it. */
static const char *fault_of(sqlite3_value *value)
{
	int type = sqlite3_value_type(value);
	const char *text;

	if (type == SQLITE_FLOAT && sqlite3_value_double(value) >= SQL_LIMIT)
		return "SQLite has no exact numbers from 2^63 on: in this column they are texts, so put the digits "
		       "into quotes";
	if (type != SQLITE_TEXT)
		return NULL;
	text = (const char *)sqlite3_value_text(value);
	errno = 0;
	if (text && is_digits(text, strlen(text)) && strtoull(text, NULL, 10) <= INT64_MAX && errno == 0)
		return "only numbers from 2^63 on are texts in this column: remove the quotes";
	return NULL;
}

const char *sql_unsigned_fault(char op, sqlite3_value *value)
{
	sqlite3_value *member = NULL;
	const char *fault = NULL;
	int code;

	if (op != SQL_IN)
		return fault_of(value);
	for (code = sqlite3_vtab_in_first(value, &member); code == SQLITE_OK && member && !fault;
	     code = sqlite3_vtab_in_next(value, &member))
		fault = fault_of(member);
	return fault;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return the end of a text, a name in quotes, or a comment that begins here, or the same address. */
static const char *skip_quoted(const char *at)
{
	static const char *const pairs[][2] = {
		{"'", "'"}, {"\"", "\""}, {"`", "`"}, {"[", "]"}, {"--", "\n"}, {"/*", "*/"}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const size_t length = strlen(pairs[i][0]);
		const char *end;

		if (strncmp(at, pairs[i][0], length) != 0)
			continue;
		end = strstr(at + length, pairs[i][1]);
		return end ? end + strlen(pairs[i][1]) : at + strlen(at);
	}
	return at;
}

static bool is_too_large(const char *digits, size_t length)
{
	static const char most[] = "9223372036854775807";

	for (; length > 0 && *digits == '0'; digits++)
		length--;
	return length > strlen(most) || (length == strlen(most) && memcmp(digits, most, length) > 0);
}

const char *sql_unsigned_find(const char *statements, size_t *length)
{
	for (const char *at = statements; *at;) {
		const char *begin = at;

		at = skip_quoted(at);
		if (at != begin)
			continue;
		while (is_digit(*at))
			at++;
		/* With a point or an exponent it is a floating-point number, and with a letter another word. */
		if (at > begin && *at != '.' && !is_letter(*at) && is_too_large(begin, (size_t)(at - begin))) {
			*length = (size_t)(at - begin);
			return begin;
		}
		while (is_letter(*at) || is_digit(*at) || *at == '.')
			at++;
		if (at == begin)
			at++;
	}
	return NULL;
}
