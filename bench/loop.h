/* SPDX-License-Identifier: MIT */
/* The loop over one operation that is measured. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <stddef.h>

/* The compiler must compute the value, and cannot join two rounds of a loop. */
#define KEEP(value) __asm__ __volatile__("" : : "r"(value) : "memory")
#define LOOP(name, statement)                                                                      \
	static void name(size_t n)                                                                 \
	{                                                                                          \
		while (n-- > 0) {                                                                  \
			statement;                                                                 \
			KEEP(n);                                                                   \
		}                                                                                  \
	}

#endif
