/* SPDX-License-Identifier: MIT */
/*
 * Products and quotients of 128 bits, for machines with and without such a type.  The functions "by halves" are for
 * machines of 32 bits; they are defined everywhere, so that a test can compare both.
 */
#ifndef PX_BASE_WIDE_H
#define PX_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct px_wide {
	uint64_t high, low;
};

PX_INLINE struct px_wide px_multiply_by_halves(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);

	return (struct px_wide){.high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32),
				.low = other << 32 | (low & UINT32_MAX)};
}

/* Return the quotient, or UINT64_MAX if it has more than 64 bits.  The divisor is not 0. */
PX_INLINE uint64_t px_divide_by_halves(struct px_wide number, uint64_t divisor)
{
	uint64_t rest = number.high, quotient = 0;

	if (number.high >= divisor)
		return UINT64_MAX;
	for (int bit = 63; bit >= 0; bit--) {
		bool is_carried = rest >> 63;

		rest = rest << 1 | (number.low >> bit & 1);
		quotient <<= 1;
		if (is_carried || rest >= divisor) {
			rest -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}

PX_INLINE struct px_wide px_multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct px_wide){.high = (uint64_t)(product >> 64), .low = (uint64_t)product};
#else
	return px_multiply_by_halves(a, b);
#endif
}

/* Return a * b / c, rounded down, or UINT64_MAX if it has more than 64 bits.  c is not 0. */
PX_INLINE uint64_t px_multiply_divide(uint64_t a, uint64_t b, uint64_t c)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 quotient = (unsigned __int128)a * b / c;

	return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
#else
	return px_divide_by_halves(px_multiply_by_halves(a, b), c);
#endif
}

/* Return the low 64 bits of a * b / 2^shift.  shift is less than 128. */
PX_INLINE uint64_t px_multiply_shift(uint64_t a, uint64_t b, unsigned int shift)
{
	struct px_wide product = px_multiply(a, b);

	if (shift == 0)
		return product.low;
	if (shift >= 64)
		return product.high >> (shift - 64);
	return product.high << (64 - shift) | product.low >> shift;
}

/* As px_multiply_shift(), but return UINT64_MAX if the result has more than 64 bits. */
PX_INLINE uint64_t px_multiply_shift_most(uint64_t a, uint64_t b, unsigned int shift)
{
	if (shift < 64 && px_multiply(a, b).high >> shift)
		return UINT64_MAX;
	return px_multiply_shift(a, b, shift);
}

#endif
