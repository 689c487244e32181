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

#endif
