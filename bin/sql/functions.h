/* SPDX-License-Identifier: MIT */
/*
 * Functions for queries: percentile(VALUE, PERCENT), the percentile as txtrace locks computes it, and numbers in the
 * data of an event: u8(bytes, OFFSET), i8, u16, i16, u32, i32, u64, i64, f32, f64.  A number that the data do not have
 * is NULL.
 */
#ifndef TXTRACE_SQL_FUNCTIONS_H
#define TXTRACE_SQL_FUNCTIONS_H

#include <sqlite3.h>

/* Return a code of SQLite. */
int sql_functions_add(sqlite3 *sqlite);

#endif
