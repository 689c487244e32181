/* SPDX-License-Identifier: MIT */
/*
 * The counter for time stamps of events, and its conversion to time.
 *
 * A time stamp is the raw value of a counter.  The counter is the time stamp counter on x86 if
 * the kernel trusts it, the virtual counter on aarch64, and otherwise CLOCK_MONOTONIC in
 * nanoseconds.  A writer reads the counter before it reserves space.  A fence orders this read
 * after the writer's earlier loads, and a data dependence orders the writer's later accesses after
 * the read (ring.h).
 *
 * The reader converts time stamps to time.  With each snapshot it takes an anchor: the values of
 * the counter and of CLOCK_MONOTONIC at the same moment.  Between two anchors the conversion is
 * linear.  Each line begins where the previous line ended, so the converted time never goes
 * backwards.  The converted time starts with the value of CLOCK_REALTIME at the creation of the
 * stream.  Later jumps of CLOCK_REALTIME do not change it (INFO-8).
 */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/layout.h"
#include "base/wide.h"

enum px_clock_source {
	PX_CLOCK_MONOTONIC = 0, /* nanoseconds; exists on every machine */
	PX_CLOCK_HARDWARE = 1	/* RDTSC or CNTVCT_EL0 */
};

#if defined __x86_64__ || defined __i386__ || defined __aarch64__
#define PX_CLOCK_LAST PX_CLOCK_HARDWARE
#else
#define PX_CLOCK_LAST PX_CLOCK_MONOTONIC /* the last source that this code can read */
#endif

struct px_clock {
	enum px_clock_source source;
	uint64_t scale; /* ns per tick, 16.48 fixed point, estimated from a short measurement */
};

/*
 * Return the best clock that all CPUs of this machine agree on now.  On x86 each call reads
 * /sys.  The first call also measures the counter for 0.1 ms.  The function is a cancellation
 * point: do not call it from trace points.
 */
struct px_clock px_clock_best(void);

uint64_t px_clock_monotonic_ns(void);
uint64_t px_clock_realtime_ns(void);
uint64_t px_clock_boottime_ns(void);

/*
 * Return CLOCK_REALTIME for a deadline that the library passes to the C library.  If another object of the process
 * shifts the time, it expects shifted deadlines.
 */
uint64_t px_clock_program_realtime_ns(void);

/* Return CLOCK_REALTIME - CLOCK_MONOTONIC, modulo 2^64. */
uint64_t px_clock_realtime_offset_ns(void);

struct timespec px_clock_timespec(uint64_t ns);

#if defined __aarch64__
/*
 * 1: the processor has a counter that it reads in the order of the program (FEAT_ECV).  0: it does not, or the
 * constructor has not run yet; then an ISB comes first.  Both are the same counter.
 */
extern uint32_t px_clock_is_synchronized __attribute__((visibility("hidden")));
#define PX_CLOCK_SYNCHRONIZED "s3_3_c14_c0_6" /* CNTVCTSS_EL0, by a name that each assembler knows */
#endif

/*
 * Read the hardware counter after all earlier loads.  Accesses that depend on the result come after this read.
 */
PX_INLINE uint64_t px_clock_hardware(void)
{
#if defined __x86_64__ || defined __i386__
	uint32_t low, high;

	__asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined __aarch64__
	uint64_t value;

	if (px_unlikely(px_read_once(&px_clock_is_synchronized)))
		__asm__ __volatile__("mrs %0, " PX_CLOCK_SYNCHRONIZED : "=r"(value) : : "memory");
	else
		__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
#else
	return px_clock_monotonic_ns();
#endif
}

/* Read the counter without order: the CPU may do it before earlier instructions have finished. */
PX_INLINE uint64_t px_clock_glance(enum px_clock_source source)
{
#if defined __x86_64__ || defined __i386__
	if (px_likely(source == PX_CLOCK_HARDWARE))
		return __builtin_ia32_rdtsc();
#elif defined __aarch64__
	uint64_t value;

	if (px_likely(source == PX_CLOCK_HARDWARE)) {
		__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
		return value;
	}
#else
	(void)source;
#endif
	return px_clock_monotonic_ns();
}

PX_INLINE uint64_t px_clock_read(enum px_clock_source source)
{
	if (px_likely(source == PX_CLOCK_HARDWARE))
		return px_clock_hardware();
	return px_clock_monotonic_ns();
}

/*
 * Wait until all CPUs see the stores that this thread has made.  On aarch64 a read of the counter is not a memory
 * access.  A memory barrier (DMB) does not order it after an earlier store, and neither does ISB.  So a store of this
 * thread could become visible later than the next read of the counter.  DSB completes the stores first.  On x86 the
 * exchange of the caller has already done so.
 */
PX_INLINE void px_clock_after_stores(void)
{
#if defined __aarch64__
	__asm__ __volatile__("dsb ish" : : : "memory");
#endif
}

/*
 * Wait until the counter changes and return its new value.  It is above every value that was read before the call,
 * unless the counter stands still.  Another thread may read the counter, then load a word that the caller stored before
 * this call, and still get the old word.  Then the counter that this thread read is lower than the result of this call.
 * The stop of a stream needs this (segment.h).
 */
uint64_t px_clock_read_later(enum px_clock_source source);

/*
 * Return the number of bits by which a counter with this scale is shifted right to get ticks of
 * about 100 ns.
 */
unsigned int px_clock_shift(uint64_t scale);

/* The counter and CLOCK_MONOTONIC at the same moment. */
struct px_anchor {
	uint64_t counter;
	uint64_t ns;
};

struct px_anchor px_clock_anchor(enum px_clock_source source);

/* A timeline keeps this many lines.  The newest line is the last in the array. */
#define PX_TIMELINE_LINES 32

struct px_line {
	uint64_t counter;
	uint64_t ns;
	uint64_t scale; /* ns per tick, 16.48 fixed point */
};

struct px_timeline {
	enum px_clock_source source;
	px_wide_word realtime_offset_ns; /* REALTIME - MONOTONIC when the timeline began */
	struct px_anchor origin;
	uint64_t last_counter; /* counter of the last anchor; no reader has converted a later counter */
	unsigned int nr_lines;
	struct px_line line[PX_TIMELINE_LINES] __attribute__((aligned(8)));
};

_Static_assert(sizeof(struct px_timeline) == 816, "the same for each word size (layout.h)");

/*
 * Start a timeline at the current time.  It converts counters to CLOCK_MONOTONIC plus this offset.
 * The scale in *clock is only a first estimate, which later anchors correct.
 */
void px_timeline_init(struct px_timeline *timeline, const struct px_clock *clock,
		      uint64_t realtime_offset_ns);

/*
 * Add an anchor.  Ignore the anchor if its counter is not above that of the last anchor.  Keep the
 * newest line if it meets the new anchor within 100 ns.  Otherwise add a line.  The new line begins on the newest line,
 * at the counter of the last anchor, and leads to the new anchor.
 */
void px_timeline_extend(struct px_timeline *timeline, struct px_anchor anchor);

/*
 * Return the nanoseconds per tick (16.48 fixed point), measured from the first anchor to the last.
 * If they are less than 1 ms apart, return the scale of the oldest line.
 */
uint64_t px_timeline_scale(const struct px_timeline *timeline);

/*
 * Convert a counter to nanoseconds on the REALTIME scale.  For counters on lines that the timeline
 * still keeps, a larger counter never gives an earlier time.
 */
uint64_t px_timeline_convert(const struct px_timeline *timeline, uint64_t counter);

/* A piece of a timeline, to convert many counters of the same line. */
struct px_piece {
	uint64_t counter, width; /* the counters of the piece: `width` counters from this one on */
	uint64_t ns;		 /* time of the first counter on the REALTIME scale */
	uint64_t scale;
};

/* Fill in the piece that has this counter.  Return false if the timeline no longer keeps its line. */
bool px_timeline_piece(const struct px_timeline *timeline, uint64_t counter, struct px_piece *piece);

PX_INLINE bool px_piece_has(const struct px_piece *piece, uint64_t counter)
{
	return counter - piece->counter < piece->width;
}

/* Return what px_timeline_convert() returns for a counter of the piece. */
PX_INLINE uint64_t px_piece_convert(const struct px_piece *piece, uint64_t counter)
{
	return piece->ns + px_multiply_shift(counter - piece->counter, piece->scale, 48);
}

#endif
