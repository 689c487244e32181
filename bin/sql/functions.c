/* SPDX-License-Identifier: MIT */
#include "sql/functions.h"

#include <stdint.h>
#include <string.h>

#include "base/durations.h"
#include "sql/unsigned.h"

/* Percentiles. */

struct percentile {
	struct durations durations;
	int percent;
};

static void step(sqlite3_context *result, int argc, sqlite3_value **argv)
{
	struct percentile *percentile;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER && sqlite3_value_double(argv[0]) >= SQL_LIMIT) {
		sqlite3_result_error(result, "percentile() takes numbers below 2^63", -1);
		return;
	}
	percentile = sqlite3_aggregate_context(result, sizeof(*percentile));
	if (!percentile) {
		sqlite3_result_error_nomem(result);
		return;
	}
	percentile->percent = sqlite3_value_int(argv[1]);
	durations_add(&percentile->durations, sqlite3_value_int64(argv[0]));
}

static void finish(sqlite3_context *result)
{
	struct percentile *percentile = sqlite3_aggregate_context(result, 0);

	if (!percentile)
		return;
	if (percentile->percent < 0 || percentile->percent > 100)
		sqlite3_result_error(result, "percentile() takes a number from 0 to 100", -1);
	else
		sqlite3_result_int64(result, (int64_t)durations_percentile(&percentile->durations,
									  (unsigned int)percentile->percent));
	durations_free(&percentile->durations);
}

/* Numbers in the data. */

static const struct number {
	const char *name;
	char kind; /* u: unsigned, i: signed, f: a floating-point number */
	int size;
} numbers[] = {
	{"u8", 'u', 1},	 {"u16", 'u', 2}, {"u32", 'u', 4}, {"u64", 'u', 8}, {"i8", 'i', 1},
	{"i16", 'i', 2}, {"i32", 'i', 4}, {"i64", 'i', 8}, {"f32", 'f', 4}, {"f64", 'f', 8},
};

static void put_unsigned(sqlite3_context *result, uint64_t number)
{
	struct sql_cell cell;

	sql_put_unsigned(&cell, number);
	if (cell.kind == CELL_INTEGER)
		sqlite3_result_int64(result, cell.integer);
	else
		sqlite3_result_text64(result, cell.text, cell.length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void put_number(sqlite3_context *result, const struct number *number, const unsigned char *from)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		float f32;
		double f64;
	} value = {0};
	uint64_t bits;
	int shift = 64 - 8 * number->size;

	memcpy(&value, from, (size_t)number->size);
	if (number->kind == 'f') {
		sqlite3_result_double(result, number->size == 4 ? (double)value.f32 : value.f64);
		return;
	}
	bits = number->size == 1 ? value.u8 :
	       number->size == 2 ? value.u16 :
	       number->size == 4 ? value.u32 :
				   value.u64;
	if (number->kind == 'i')
		sqlite3_result_int64(result, (int64_t)(bits << shift) >> shift);
	else
		put_unsigned(result, bits);
}

static void get_number(sqlite3_context *result, int argc, sqlite3_value **argv)
{
	const struct number *number = sqlite3_user_data(result);
	sqlite3_int64 offset = argc > 1 ? sqlite3_value_int64(argv[1]) : 0;

	if (sqlite3_value_type(argv[0]) != SQLITE_BLOB || offset < 0 ||
	    offset > sqlite3_value_bytes(argv[0]) - number->size)
		return;
	put_number(result, number, (const unsigned char *)sqlite3_value_blob(argv[0]) + offset);
}

int sql_functions_add(sqlite3 *sqlite)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = sqlite3_create_function_v2(sqlite, "percentile", 2, flags, NULL, NULL, step, finish, NULL);

	if (code == SQLITE_OK)
		code = sql_unsigned_add(sqlite);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (int nr_arguments = 1; nr_arguments <= 2 && code == SQLITE_OK; nr_arguments++)
			code = sqlite3_create_function_v2(sqlite, numbers[i].name, nr_arguments, flags,
							  (void *)(uintptr_t)&numbers[i], get_number, NULL, NULL, NULL);
	return code;
}
