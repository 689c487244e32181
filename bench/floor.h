/* SPDX-License-Identifier: MIT */
/* What a trace point is measured against: functions of a shared library, with its arguments. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* Does nothing: the price of a call through the PLT. */
void bench_floor_empty(unsigned int id, const void *data, size_t length);

/* Reads the counter, RDTSC where there is one, and does nothing else: what a stamp costs. */
uint64_t bench_floor_stamp(unsigned int id, const void *data, size_t length);

/* The counter itself. */
static inline uint64_t bench_counter(void)
{
#if defined __x86_64__
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined __aarch64__
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

#endif
