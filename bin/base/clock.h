/* SPDX-License-Identifier: MIT */
/* The time of CLOCK_MONOTONIC. */
#ifndef TXTRACE_BASE_CLOCK_H
#define TXTRACE_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);

#endif
