/* SPDX-License-Identifier: MIT */
/*
 * The counter that stamps events, and its conversion to time.
 *
 * A stamp is a raw counter: the time stamp counter on x86-64 when the kernel trusts it, the virtual
 * counter on aarch64, else CLOCK_MONOTONIC in nanoseconds.  It is read on the way to a reservation,
 * so it is fenced against what comes before it; what must come after it takes a data dependence
 * (ring.h).
 *
 * Time is made when events are read.  The reader takes an anchor {counter, CLOCK_MONOTONIC} with
 * each snapshot; between anchors the conversion is a line, and a new line begins where the last one
 * ended, so time never falls.  Times are on the scale of CLOCK_REALTIME at creation, without its
 * jumps (INFO-8).
 */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

enum px_clock_source {
	PX_CLOCK_MONOTONIC = 0, /* nanoseconds; the only one that exists everywhere */
	PX_CLOCK_HARDWARE = 1	/* RDTSC or CNTVCT_EL0 */
};

struct px_clock {
	enum px_clock_source source;
	uint64_t scale; /* ns of a tick, 16.48 fixed point, as far as a short look tells */
};

/*
 * The best clock that all CPUs of this machine agree on now.  Reads /sys at each call, and measures
 * for 0.1 ms the first time.  A cancellation point, and not for trace points.
 */
struct px_clock px_clock_best(void);

uint64_t px_clock_monotonic_ns(void);
uint64_t px_clock_realtime_ns(void);

/* CLOCK_REALTIME - CLOCK_MONOTONIC, modulo 2^64. */
uint64_t px_clock_realtime_offset_ns(void);

struct timespec px_clock_timespec(uint64_t ns);

/* All loads before it are done; what depends on its result comes after it. */
PX_INLINE uint64_t px_clock_hardware(void)
{
#if defined __x86_64__
	uint32_t low, high;

	__asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined __aarch64__
	uint64_t value;

	__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
#else
	return px_clock_monotonic_ns();
#endif
}

PX_INLINE uint64_t px_clock_read(enum px_clock_source source)
{
	if (px_likely(source == PX_CLOCK_HARDWARE))
		return px_clock_hardware();
	return px_clock_monotonic_ns();
}

/* A counter above all read before the call: on a coarse counter, waits for the next tick. */
uint64_t px_clock_read_later(enum px_clock_source source);

/* The shift that makes a tick of about 100 ns of a counter with this scale. */
unsigned int px_clock_shift(uint64_t scale);

/* A point on the counter and on CLOCK_MONOTONIC, taken together. */
struct px_anchor {
	uint64_t counter;
	uint64_t ns;
};

struct px_anchor px_clock_anchor(enum px_clock_source source);

/* Counter to time: lines, the youngest last. */
#define PX_TIMELINE_LINES 32

struct px_line {
	uint64_t counter;
	uint64_t ns;
	uint64_t scale; /* ns of a tick, 16.48 */
};

struct px_timeline {
	enum px_clock_source source;
	uint64_t realtime_offset_ns; /* REALTIME - MONOTONIC when the timeline began */
	struct px_anchor origin;
	uint64_t last_counter; /* the last anchor: nothing beyond it was converted yet */
	unsigned int nr_lines;
	struct px_line line[PX_TIMELINE_LINES];
};

/*
 * Begin now, on the scale of CLOCK_MONOTONIC plus this offset.  The clock's scale is a first guess;
 * anchors correct it.
 */
void px_timeline_init(struct px_timeline *timeline, const struct px_clock *clock,
		      uint64_t realtime_offset_ns);

/*
 * Take note of an anchor not older than the last.  While the line meets it within 100 ns the line
 * is kept; else a new one leads from the last anchor, as converted, to this one.
 */
void px_timeline_extend(struct px_timeline *timeline, struct px_anchor anchor);

/* Nanoseconds of a tick, 16.48, as far as the anchors tell; before there are any a first guess. */
uint64_t px_timeline_scale(const struct px_timeline *timeline);

/* Nanoseconds on the REALTIME scale; never falls with the counter while the lines are kept. */
uint64_t px_timeline_convert(const struct px_timeline *timeline, uint64_t counter);

#endif
