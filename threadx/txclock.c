/* SPDX-License-Identifier: MIT */
#include "txclock.h"

#include "base/clock.h"

#define NS_PER_TICK 100
#define SHIFT 48 /* the scales are 16.48 fixed point */
#define CORRECTION_NS 100000000

static enum px_clock_source source;
static uint64_t first_scale; /* ns per counter, << SHIFT */
static struct px_anchor origin;
static unsigned __int128 origin_ticks; /* << SHIFT */

/* The line of stamps from a counter on.  The position is in fixed point, so that a new line has no step. */
static struct {
	uint64_t counter;
	unsigned __int128 ticks; /* << SHIFT */
	uint64_t scale;		 /* ticks per counter, << SHIFT */
	uint64_t length;	 /* in counters: then the clock reads the time */
} line;

static unsigned __int128 position(uint64_t counter)
{
	return line.ticks + (unsigned __int128)(counter - line.counter) * line.scale;
}

/* Begin a line here which has this scale, in ns, and makes up for an error of so many ticks << SHIFT until it ends. */
static void begin_line(uint64_t counter, unsigned __int128 ticks, uint64_t ns_scale, __int128 error)
{
	line.counter = counter;
	line.ticks = ticks;
	line.length = (uint64_t)(((unsigned __int128)CORRECTION_NS << SHIFT) / ns_scale);
	line.scale = ns_scale / NS_PER_TICK;
	error /= (__int128)line.length;
	/* A clock that was set wrong far away is no reason to stand still or to hurry. */
	if (error > (__int128)(line.scale / 8))
		error = (__int128)(line.scale / 8);
	if (error < -(__int128)(line.scale / 8))
		error = -(__int128)(line.scale / 8);
	line.scale = (uint64_t)((__int128)line.scale + error);
}

void px_tx_clock_start(void)
{
	struct px_clock clock = px_clock_best();

	source = clock.source;
	origin = px_clock_anchor(source);
	origin_ticks = 0;
	first_scale = clock.scale;
	begin_line(origin.counter, 0, clock.scale, 0);
}

static __attribute__((cold, noinline)) void correct(void)
{
	struct px_anchor now = px_clock_anchor(source);
	unsigned __int128 ticks = position(now.counter);
	uint64_t counters = now.counter - origin.counter, ns = now.ns - origin.ns;
	unsigned __int128 truth = ((unsigned __int128)ns << SHIFT) / NS_PER_TICK;
	uint64_t scale = counters ? (uint64_t)(((unsigned __int128)ns << SHIFT) / counters) : 0;

	/* While a machine was suspended, only one of the two went on: begin anew. */
	if (scale < first_scale - first_scale / 8 || scale > first_scale + first_scale / 8) {
		begin_line(now.counter, ticks, first_scale, 0);
		origin = now;
		origin_ticks = ticks;
		return;
	}
	begin_line(now.counter, ticks, scale, (__int128)(origin_ticks + truth) - (__int128)ticks);
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
	return (uint64_t)(position(counter) >> SHIFT);
}
