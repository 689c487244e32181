/* SPDX-License-Identifier: MIT */
/*
 * The counter for time stamps of events, and its conversion to time.
 *
 * A stamp is a raw counter.  It is the time stamp counter on x86-64 if the kernel trusts it, the
 * virtual counter on aarch64, and otherwise CLOCK_MONOTONIC in nanoseconds.  A writer reads the
 * counter before it reserves space.  A fence orders the read after the earlier accesses, and a data
 * dependence orders the later accesses after the read (ring.h).
 *
 * The reader converts stamps to time.  It takes an anchor {counter, CLOCK_MONOTONIC} with each
 * snapshot.  Between anchors the conversion is a line, and each line begins where the last line
 * ended, so time never falls.  Times are on the scale of CLOCK_REALTIME at the creation of the
 * stream, without later jumps of that clock (INFO-8).
 */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

enum px_clock_source {
	PX_CLOCK_MONOTONIC = 0, /* nanoseconds; exists on every machine */
	PX_CLOCK_HARDWARE = 1	/* RDTSC or CNTVCT_EL0 */
};

struct px_clock {
	enum px_clock_source source;
	uint64_t scale; /* ns per tick, 16.48 fixed point, estimated from a short measurement */
};

/*
 * Return the best clock that all CPUs of this machine agree on now.  Reads /sys at each call, and
 * measures for 0.1 ms at the first call.  A cancellation point: do not call it from trace points.
 */
struct px_clock px_clock_best(void);

uint64_t px_clock_monotonic_ns(void);
uint64_t px_clock_realtime_ns(void);

/* Return CLOCK_REALTIME - CLOCK_MONOTONIC, modulo 2^64. */
uint64_t px_clock_realtime_offset_ns(void);

struct timespec px_clock_timespec(uint64_t ns);

/* Read the hardware counter after all earlier loads.  Accesses that depend on the result come after the read. */
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

/*
 * Return a counter above every counter that was read before the call.  Waits for the next tick if
 * the counter is coarse.
 */
uint64_t px_clock_read_later(enum px_clock_source source);

/* Return the shift that makes ticks of about 100 ns from a counter with this scale. */
unsigned int px_clock_shift(uint64_t scale);

/* The counter and CLOCK_MONOTONIC at the same moment. */
struct px_anchor {
	uint64_t counter;
	uint64_t ns;
};

struct px_anchor px_clock_anchor(enum px_clock_source source);

/* The lines that convert a counter to time, the newest last. */
#define PX_TIMELINE_LINES 32

struct px_line {
	uint64_t counter;
	uint64_t ns;
	uint64_t scale; /* ns per tick, 16.48 */
};

struct px_timeline {
	enum px_clock_source source;
	uint64_t realtime_offset_ns; /* REALTIME - MONOTONIC when the timeline began */
	struct px_anchor origin;
	uint64_t last_counter; /* of the last anchor: no later counter has been converted */
	unsigned int nr_lines;
	struct px_line line[PX_TIMELINE_LINES];
};

/*
 * Start the timeline now, on the scale of CLOCK_MONOTONIC plus this offset.  The scale of the clock
 * is a first guess, and anchors correct it.
 */
void px_timeline_init(struct px_timeline *timeline, const struct px_clock *clock,
		      uint64_t realtime_offset_ns);

/*
 * Add an anchor, which must not be older than the last one.  Keep the line if it meets the anchor
 * within 100 ns.  Otherwise start a new line from the converted last anchor to this one.
 */
void px_timeline_extend(struct px_timeline *timeline, struct px_anchor anchor);

/*
 * Return the nanoseconds per tick, 16.48, measured between the anchors.  Without anchors it is a
 * first guess.
 */
uint64_t px_timeline_scale(const struct px_timeline *timeline);

/*
 * Return nanoseconds on the REALTIME scale.  The result never falls as the counter rises, while its
 * line is kept.
 */
uint64_t px_timeline_convert(const struct px_timeline *timeline, uint64_t counter);

#endif
