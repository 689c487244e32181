/* SPDX-License-Identifier: MIT */
#include "txclock.h"

#include "base/clock.h"
#include "base/wide.h"

#define NS_PER_TICK 100
#define SHIFT 48 /* the scales are 16.48 fixed point */
#define ONE ((uint64_t)1 << SHIFT)
#define CORRECTION_NS 100000000

struct ticks {
	uint64_t whole, part; /* part: of ONE */
};

static enum px_clock_source source;
static uint64_t first_scale; /* ns per counter, << SHIFT */
static struct px_anchor origin;
static struct ticks origin_ticks;

/* The line of stamps from a counter on.  The position has a part, so that a new line has no step. */
static struct {
	uint64_t counter;
	struct ticks ticks;
	uint64_t scale;	 /* ticks per counter, << SHIFT */
	uint64_t length; /* in counters: then the clock reads the time */
} line;

static struct ticks add(struct ticks a, struct ticks b)
{
	uint64_t part = a.part + b.part;

	return (struct ticks){.whole = a.whole + b.whole + (part >> SHIFT), .part = part & (ONE - 1)};
}

static bool is_less(struct ticks a, struct ticks b)
{
	return a.whole != b.whole ? a.whole < b.whole : a.part < b.part;
}

static struct ticks subtract(struct ticks a, struct ticks b)
{
	uint64_t borrow = a.part < b.part;

	return (struct ticks){.whole = a.whole - b.whole - borrow, .part = a.part + (borrow << SHIFT) - b.part};
}

static struct ticks position(uint64_t counter)
{
	uint64_t counters = counter - line.counter;
	struct ticks since = {.whole = px_multiply_shift(counters, line.scale, SHIFT),
			      .part = counters * line.scale & (ONE - 1)};

	return add(line.ticks, since);
}

/* Begin a line here which has this scale, in ns, and makes up for the distance from `truth` until it ends. */
static void begin_line(uint64_t counter, struct ticks ticks, uint64_t ns_scale, struct ticks truth)
{
	bool is_behind = is_less(ticks, truth);
	struct ticks error = is_behind ? subtract(truth, ticks) : subtract(ticks, truth);
	uint64_t change, most;

	line.counter = counter;
	line.ticks = ticks;
	line.length = px_multiply_divide(CORRECTION_NS, ONE, ns_scale);
	line.scale = ns_scale / NS_PER_TICK;
	/* A clock that was set wrong far away is no reason to stand still or to hurry. */
	most = line.scale / 8;
	change = px_multiply_divide(error.whole, ONE, line.length);
	if (change <= most)
		change += error.part / line.length;
	if (change > most)
		change = most;
	line.scale = is_behind ? line.scale + change : line.scale - change;
}

void px_tx_clock_start(void)
{
	struct px_clock clock = px_clock_best();

	source = clock.source;
	origin = px_clock_anchor(source);
	origin_ticks = (struct ticks){0};
	first_scale = clock.scale;
	begin_line(origin.counter, origin_ticks, clock.scale, origin_ticks);
}

static __attribute__((cold, noinline)) void correct(void)
{
	struct px_anchor now = px_clock_anchor(source);
	struct ticks ticks = position(now.counter);
	uint64_t counters = now.counter - origin.counter, ns = now.ns - origin.ns;
	struct ticks truth = {.whole = ns / NS_PER_TICK, .part = (ns % NS_PER_TICK << SHIFT) / NS_PER_TICK};
	uint64_t scale = counters ? px_multiply_divide(ns, ONE, counters) : 0;

	/* While a machine was suspended, only one of the two went on: begin anew. */
	if (scale < first_scale - first_scale / 8 || scale > first_scale + first_scale / 8) {
		begin_line(now.counter, ticks, first_scale, ticks);
		origin = now;
		origin_ticks = ticks;
		return;
	}
	begin_line(now.counter, ticks, scale, add(origin_ticks, truth));
}

uint64_t px_tx_clock_ticks(void)
{
	uint64_t counter = px_clock_glance(source);

	/* Another CPU read a later counter before. */
	if (px_unlikely((int64_t)(counter - line.counter) < 0))
		counter = line.counter;
	if (px_unlikely(counter - line.counter > line.length)) {
		correct();
		counter = line.counter;
	}
	return position(counter).whole;
}
