/* SPDX-License-Identifier: MIT */
#include "sql/unsigned.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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
