/* SPDX-License-Identifier: MIT */
/*
 * Packed wrapper statistics: that unpacking returns all rows, how many bytes they take, and that damaged bytes are read
 * only within their bounds.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>

#include "log/wrappers.h"

#define ROWS PX_WRAPPERS_MAX

static struct px_wrapper_sum rows[ROWS], got[ROWS];
static unsigned char *packed;

static void setup(void)
{
	packed = malloc((size_t)ROWS * PX_WRAPPERS_ROW_MAX);
	ck_assert_ptr_nonnull(packed);
}

static void teardown(void)
{
	free(packed);
}

static void fill_text(char *text, size_t size, uint64_t *random)
{
	size_t length = next_random(random) % size;

	memset(text, 0, size);
	for (size_t i = 0; i < length; i++)
		text[i] = (char)('a' + next_random(random) % 2);
}

static void expect_back(size_t size, uint32_t nr)
{
	unsigned char *bytes = malloc(size + 1);

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, packed, size);
	ck_assert_uint_eq(px_wrappers_unpack(bytes, size, got, nr), nr);
	ck_assert_mem_eq(got, rows, nr * sizeof(*rows));
	free(bytes);
}

/* Texts of any length and numbers of any size, and also no row at all. */
START_TEST(pack_of_any_rows_comes_back)
{
	uint64_t random = test_seed();

	for (uint32_t round = 0; round < 200; round++) {
		uint32_t nr = (uint32_t)(next_random(&random) % (ROWS + 1));

		for (uint32_t i = 0; i < nr; i++) {
			uint64_t shift = next_random(&random) % 64;

			fill_text(rows[i].symbol, sizeof(rows[i].symbol), &random);
			fill_text(rows[i].version, sizeof(rows[i].version), &random);
			rows[i].call = (uint32_t)(next_random(&random) >> shift);
			rows[i].state = (uint32_t)(next_random(&random) >> shift);
			rows[i].calls = next_random(&random) >> shift;
			rows[i].samples = next_random(&random) >> shift;
			rows[i].overhead_ns = next_random(&random) >> shift;
		}
		expect_back(px_wrappers_pack(rows, nr, packed), nr);
	}
}
END_TEST

/* The longest row fits. */
START_TEST(pack_of_the_longest_rows_has_room)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		memset(rows[i].symbol, i % 2 ? 'a' : 'b', sizeof(rows[i].symbol) - 1);
		memset(rows[i].version, i % 2 ? 'a' : 'b', sizeof(rows[i].version) - 1);
		rows[i].call = rows[i].state = UINT32_MAX;
		rows[i].calls = rows[i].samples = rows[i].overhead_ns = UINT64_MAX;
	}
	expect_back(px_wrappers_pack(rows, ROWS, packed), ROWS);
}
END_TEST

/* A program calls few of the functions that have wrappers. */
START_TEST(pack_of_unused_rows_takes_their_names)
{
	size_t size;

	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < ROWS; i++) {
		snprintf(rows[i].symbol, sizeof(rows[i].symbol), "%s_%u", i % 3 ? "pthread" : "sem", i);
		strcpy(rows[i].version, "GLIBC_2.34");
		rows[i].call = i;
		rows[i].state = PX_WRAPPER_INSTALLED;
	}
	size = px_wrappers_pack(rows, ROWS, packed);
	ck_assert_uint_le(size, ROWS * 22);
	expect_back(size, ROWS);
}
END_TEST

START_TEST(unpack_of_damage_stays_within_the_bytes)
{
	uint64_t random = test_seed();
	size_t size;

	for (uint32_t i = 0; i < 20; i++) {
		fill_text(rows[i].symbol, sizeof(rows[i].symbol), &random);
		fill_text(rows[i].version, sizeof(rows[i].version), &random);
		rows[i].calls = next_random(&random);
	}
	size = px_wrappers_pack(rows, 20, packed);
	for (uint32_t round = 0; round < 20000; round++) {
		size_t cut = next_random(&random) % (size + 1);
		unsigned char *bytes = malloc(cut + (cut == 0));

		ck_assert_ptr_nonnull(bytes);
		memcpy(bytes, packed, cut);
		if (round % 2 && cut > 0)
			bytes[next_random(&random) % cut] = (unsigned char)next_random(&random);
		ck_assert_uint_le(px_wrappers_unpack(bytes, cut, got, ROWS), ROWS);
		free(bytes);
	}
	ck_assert_uint_eq(px_wrappers_unpack(packed, size, got, 20), 20);
	ck_assert_uint_eq(px_wrappers_unpack(packed, size - 1, got, 20), 19);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wrappers");
	TCase *tcase = tcase_create("wrappers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, pack_of_any_rows_comes_back);
	tcase_add_test(tcase, pack_of_the_longest_rows_has_room);
	tcase_add_test(tcase, pack_of_unused_rows_takes_their_names);
	tcase_add_test(tcase, unpack_of_damage_stays_within_the_bytes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
