/* SPDX-License-Identifier: MIT */
/* Durations: their sums, and their text for people. */
#ifndef TXTRACE_BASE_UNITS_H
#define TXTRACE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Add to a sum of durations.  In a damaged file the sum may be too large: then it stays at INT64_MAX or INT64_MIN. */
void units_add(int64_t *sum, int64_t ns);

/* Write a duration with a unit that fits it, such as "41.2 ms" or "193.3 us". */
void units_duration(char *text, size_t size, int64_t ns);

#endif
