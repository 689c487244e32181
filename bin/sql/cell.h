/* SPDX-License-Identifier: MIT */
/* The value of a column in one row. */
#ifndef TXTRACE_SQL_CELL_H
#define TXTRACE_SQL_CELL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* CELL_UNSIGNED: an unsigned integer above INT64_MAX; `integer` has its bits, and `text` its digits. */
enum sql_cell_kind { CELL_NULL, CELL_INTEGER, CELL_UNSIGNED, CELL_REAL, CELL_TEXT, CELL_BYTES };

struct sql_cell {
	enum sql_cell_kind kind;
	int64_t integer;
	double real;
	/* Of CELL_TEXT, CELL_UNSIGNED and CELL_BYTES, without a terminating null; valid until the next row. */
	const char *text;
	size_t length;
	char own[32]; /* room for a text that is nowhere else */
};

static inline void sql_put_integer(struct sql_cell *cell, int64_t integer)
{
	cell->kind = CELL_INTEGER;
	cell->integer = integer;
}

static inline void sql_put_real(struct sql_cell *cell, double real)
{
	cell->kind = CELL_REAL;
	cell->real = real;
}

static inline void sql_put_string(struct sql_cell *cell, const char *text, size_t length)
{
	cell->kind = CELL_TEXT;
	cell->text = text;
	cell->length = length;
}

static inline void sql_put_bytes(struct sql_cell *cell, const void *bytes, size_t size)
{
	cell->kind = CELL_BYTES;
	cell->text = bytes;
	cell->length = size;
}

/* An empty text or NULL is NULL. */
static inline void sql_put_text(struct sql_cell *cell, const char *text)
{
	if (text && *text)
		sql_put_string(cell, text, strlen(text));
}

#endif
