/* SPDX-License-Identifier: MIT */
/* Products and quotients of 128 bits: known ones, and by halves as with the compiler's own type. */
#include "support/common.h"

#include "base/wide.h"

#define NR_RANDOM 20000

static const uint64_t numbers[] = {0, 1, 2, 3, 1000, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0x100000001),
				   UINT64_C(1) << 48, UINT64_C(999999999999999989), INT64_MAX, UINT64_C(1) << 63,
				   UINT64_MAX - 1, UINT64_MAX};
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* Products and quotients of a, b and c agree with each other, and with the compiler's type if there is one. */
static void compare(uint64_t a, uint64_t b, uint64_t c)
{
	struct px_wide product = px_multiply_by_halves(a, b), native = px_multiply(a, b);
	uint64_t quotient;

	ck_assert_uint_eq(product.low, a * b);
	ck_assert_uint_eq(product.high, native.high);
	ck_assert_uint_eq(product.low, native.low);
	if (c == 0)
		return;
	quotient = px_divide_by_halves(product, c);
	ck_assert_uint_eq(quotient, px_multiply_divide(a, b, c));
	if (product.high < c) {
		struct px_wide back = px_multiply_by_halves(quotient, c);
		uint64_t rest = product.low - back.low;

		/* The rest is less than the divisor. */
		ck_assert_uint_eq(product.high - back.high - (product.low < back.low), 0);
		ck_assert_uint_lt(rest, c);
	} else {
		ck_assert_uint_eq(quotient, UINT64_MAX);
	}
}

START_TEST(known_products_and_quotients)
{
	struct px_wide square = px_multiply_by_halves(UINT64_MAX, UINT64_MAX);

	ck_assert_uint_eq(square.high, UINT64_MAX - 1);
	ck_assert_uint_eq(square.low, 1);
	ck_assert_uint_eq(px_multiply_divide(1000000000, UINT64_C(1) << 48, 3000000000), UINT64_C(93824992236885));
	ck_assert_uint_eq(px_multiply_divide(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(px_multiply_divide(UINT64_MAX, 2, 1), UINT64_MAX); /* has 65 bits */
	ck_assert_uint_eq(px_divide_by_halves((struct px_wide){.high = 2, .low = 0}, 3), UINT64_C(0xaaaaaaaaaaaaaaaa));
}
END_TEST

START_TEST(shifts_take_bits_of_both_halves)
{
	const uint64_t a = UINT64_C(0x123456789abcdef0), b = UINT64_C(1) << 60;

	/* The product is 0x0123456789abcdef:0000000000000000. */
	ck_assert_uint_eq(px_multiply_shift(a, b, 0), 0);
	ck_assert_uint_eq(px_multiply_shift(a, b, 48), UINT64_C(0x456789abcdef0000));
	ck_assert_uint_eq(px_multiply_shift(a, b, 60), a);
	ck_assert_uint_eq(px_multiply_shift(a, b, 64), a >> 4);
	ck_assert_uint_eq(px_multiply_shift(a, b, 100), a >> 40);
	ck_assert_uint_eq(px_multiply_shift_most(a, b, 60), a);
	ck_assert_uint_eq(px_multiply_shift_most(a, b, 48), UINT64_MAX);
	ck_assert_uint_eq(px_multiply_shift_most(a, b, 0), UINT64_MAX);
	ck_assert_uint_eq(px_multiply_shift_most(3, 5, 0), 15);
}
END_TEST

START_TEST(halves_and_the_type_of_the_compiler_agree)
{
	uint64_t state = 42;

	for (size_t i = 0; i < NR_NUMBERS; i++)
		for (size_t k = 0; k < NR_NUMBERS; k++)
			for (size_t j = 0; j < NR_NUMBERS; j++)
				compare(numbers[i], numbers[k], numbers[j]);
	for (int i = 0; i < NR_RANDOM; i++) {
		uint64_t a = next_random(&state), b = next_random(&state), c = next_random(&state);
		unsigned int bits = (unsigned int)(next_random(&state) >> 58);

		compare(a, b, c);
		compare(a >> bits, b, c >> (63 - bits));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wide");
	TCase *tcase = tcase_create("numbers");

	tcase_add_test(tcase, known_products_and_quotients);
	tcase_add_test(tcase, shifts_take_bits_of_both_halves);
	tcase_add_test(tcase, halves_and_the_type_of_the_compiler_agree);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
