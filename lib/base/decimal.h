/* SPDX-License-Identifier: MIT */
/* Decimal digits without stdio, for trace points and signal handlers. */
#ifndef PX_BASE_DECIMAL_H
#define PX_BASE_DECIMAL_H

#include <stdint.h>

#define PX_DECIMAL_DIGITS 10 /* digits of the largest number */

/* Write the digits of number without a null byte.  Return the address after the last digit. */
static inline char *px_decimal_put(char *to, uint32_t number)
{
	char digits[PX_DECIMAL_DIGITS];
	int n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n > 0)
		*to++ = digits[--n];
	return to;
}

/* Return the number whose digits begin at this address; 0 if there are none, or if the address is NULL. */
static inline uint64_t px_decimal_get(const char *at)
{
	uint64_t number = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

#endif
