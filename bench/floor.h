/* SPDX-License-Identifier: MIT */
/* Functions of a shared library, with the arguments of a trace point, for comparison with it. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* Does nothing: measures a call through the PLT. */
void bench_floor_empty(unsigned int id, const void *data, size_t length);

/* Only reads the counter: measures the cost of a time stamp. */
uint64_t bench_floor_stamp(unsigned int id, const void *data, size_t length);

/* The CPU's counter: RDTSC on x86-64; 0 on other machines than x86-64 and aarch64. */
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

/* The same after all earlier instructions (LFENCE on x86-64), as an event needs it. */
static inline uint64_t bench_counter_ordered(void)
{
#if defined __x86_64__
	__asm__ __volatile__("lfence");
#elif defined __aarch64__
	__asm__ __volatile__("isb");
#endif
	return bench_counter();
}

#endif
