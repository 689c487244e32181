/* SPDX-License-Identifier: MIT */
/* Durations as text for people. */
#ifndef TXTRACE_BASE_UNITS_H
#define TXTRACE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Write a duration with a unit that fits it, such as "41.2 ms" or "193.3 us". */
void units_duration(char *text, size_t size, int64_t ns);

#endif
