/* SPDX-License-Identifier: MIT */
/*
 * Unsigned integers of 64 bits in SQLite, whose integers have a sign.  A number below 2^63 is an integer.  One from
 * 2^63 on is a text, its decimal digits, so that it is exact.  A column with such numbers has no type: with a numeric
 * one, SQLite would make a floating-point number of the text.
 *
 * SQLite sorts integers before texts.  The collation "uint" sorts texts of digits as numbers, as that of the shell of
 * SQLite does, so all these numbers have their order.
 */
#ifndef TXTRACE_SQL_UNSIGNED_H
#define TXTRACE_SQL_UNSIGNED_H

#include <sqlite3.h>
#include <stdint.h>

#include "sql/cell.h"

#define SQL_UINT "uint"
#define SQL_LIMIT 9223372036854775808.0 /* 2^63 */

void sql_put_unsigned(struct sql_cell *cell, uint64_t number);

/*
 * Find a decimal number from 2^63 on in statements, but not in a text, a name or a comment, and return its length; NULL
 * if there is none.  SQLite makes a floating-point number of it, which equals no such field, and is less than all
 * texts.
 */
const char *sql_unsigned_find(const char *statements, size_t *length);

/* Make the collation known.  Return a code of SQLite. */
int sql_unsigned_add(sqlite3 *sqlite);

/*
 * Return what is wrong with a value that a query compares with such a column, or NULL: it is a number in the form that
 * no number of this size has there, so it would equal none.  op: as in sql_bounds_add().
 */
const char *sql_unsigned_fault(char op, sqlite3_value *value);

#endif
