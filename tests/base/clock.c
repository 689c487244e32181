/* SPDX-License-Identifier: MIT */
/*
 * The clock: counters and their conversion to time, and the time stamps of events.  Where the values matter, a
 * simulated clock gives the anchors; otherwise the real clock does.
 */
#include "config.h"

#include "support/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_ext.h>

#include "base/clock.h"

#define NS_PER_S UINT64_C(1000000000)
#define SCALE_ONE (UINT64_C(1) << 48)

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return px_test_ns(now);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t scale_of(double ns_per_tick)
{
	return (uint64_t)(ns_per_tick * (double)SCALE_ONE);
}

/* The clock of the library, which a test may stop. */

#if defined __x86_64__ || defined __aarch64__ /* base/system.h */
static bool stands_still;

int px_system_clock_gettime(clockid_t clock, struct timespec *now);

/* The library has a weak definition. */
int px_system_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!stands_still)
		return clock_gettime(clock, now);
	*now = (struct timespec){1000, 0};
	return 0;
}

/* INFO-7: no call waits for ever if the clock stands still, as in a debugger or under libfaketime. */
START_TEST(clock_that_stands_still_ends_each_wait)
{
	stands_still = true;
	ck_assert_int_eq((int)px_clock_best().source, PX_CLOCK_MONOTONIC);
	ck_assert_uint_eq(px_clock_read_later(PX_CLOCK_MONOTONIC), 1000 * NS_PER_S);
	ck_assert_uint_eq(px_clock_anchor(PX_CLOCK_MONOTONIC).counter, 1000 * NS_PER_S);
}
END_TEST
#endif

/* Readings. */

/* INFO-7 */
START_TEST(clock_best_scale_agrees_with_the_kernels_clock)
{
	struct px_clock clock = px_clock_best();
	struct px_anchor from, to;
	double measured;

	from = px_clock_anchor(clock.source);
	sleep_ms(20);
	to = px_clock_anchor(clock.source);
	measured = (double)(to.ns - from.ns) / (double)(to.counter - from.counter);
	ck_assert_double_lt(fabs((double)clock.scale / (double)SCALE_ONE / measured - 1), 0.05);
	if (clock.source == PX_CLOCK_MONOTONIC)
		ck_assert_uint_eq(clock.scale, SCALE_ONE);
}
END_TEST

START_TEST(clock_best_asked_again_gives_the_same)
{
	struct px_clock first = px_clock_best();

	for (int i = 0; i < 10; i++) {
		struct px_clock again = px_clock_best();

		ck_assert_int_eq(again.source, first.source);
		ck_assert_uint_eq(again.scale, first.scale);
	}
}
END_TEST

START_TEST(clock_shift_makes_ticks_of_64_to_128_ns)
{
	/* From 50 MHz to 10 GHz, and values far outside of this range. */
	for (double ns = 0.1; ns < 20; ns *= 1.01) {
		double tick = ns * (double)(UINT64_C(1) << px_clock_shift(scale_of(ns)));

		ck_assert_double_gt(tick, 63.99);
		ck_assert_double_le(tick, 128);
	}
	ck_assert_uint_eq(px_clock_shift(SCALE_ONE), 7);
	ck_assert_uint_eq(px_clock_shift(scale_of(1000)), 0);
	ck_assert_uint_eq(px_clock_shift(UINT64_MAX), 0);
	ck_assert_uint_eq(px_clock_shift(1), 32);
	ck_assert_uint_eq(px_clock_shift(0), 32);
}
END_TEST

static enum px_clock_source source_of(int i)
{
	return i == 0 ? PX_CLOCK_MONOTONIC : px_clock_best().source;
}

/* START-7 STOP-6 */
START_TEST(clock_read_later_is_above_all_reads_before)
{
	enum px_clock_source source = source_of(_i);

	for (int i = 0; i < 100000; i++) {
		uint64_t before = px_clock_read(source);
		uint64_t later = px_clock_read_later(source);

		ck_assert_int_gt((int64_t)(later - before), 0);
		ck_assert_int_ge((int64_t)(px_clock_read(source) - later), 0);
	}
}
END_TEST

START_TEST(clock_anchor_lies_between_readings_of_both_clocks)
{
	enum px_clock_source source = source_of(_i);

	for (int i = 0; i < 10000; i++) {
		uint64_t counter = px_clock_read(source);
		uint64_t ns = px_clock_monotonic_ns();
		struct px_anchor anchor = px_clock_anchor(source);

		ck_assert_uint_ge(anchor.counter, counter);
		ck_assert_uint_ge(anchor.ns, ns);
		ck_assert_uint_le(anchor.counter, px_clock_read(source));
		ck_assert_uint_le(anchor.ns, px_clock_monotonic_ns());
	}
}
END_TEST

START_TEST(clock_nanoseconds_are_those_of_the_kernels_clocks)
{
	uint64_t before = now_ns(CLOCK_MONOTONIC);
	uint64_t ns = px_clock_monotonic_ns();

	ck_assert_uint_ge(ns, before);
	ck_assert_uint_le(ns, now_ns(CLOCK_MONOTONIC));
	before = now_ns(CLOCK_REALTIME);
	ns = px_clock_realtime_ns();
	ck_assert_uint_ge(ns, before);
	ck_assert_uint_le(ns, now_ns(CLOCK_REALTIME));
}
END_TEST

START_TEST(clock_timespec_keeps_seconds_and_nanoseconds_apart)
{
	static const struct {
		uint64_t ns;
		time_t seconds;
		long rest;
	} cases[] = {
		{0, 0, 0},
		{999999999, 0, 999999999},
		{1000000000, 1, 0},
		{1700000000123456789, 1700000000, 123456789},
		{18446744073709551615u, (time_t)18446744073, 709551615},
	};

	for (size_t i = 0; i < PX_ARRAY_SIZE(cases); i++) {
		struct timespec time = px_clock_timespec(cases[i].ns);

		if (sizeof(time_t) < 8 && cases[i].ns >> 61) /* after 2038 */
			continue;

		ck_assert_int_eq(time.tv_sec, cases[i].seconds);
		ck_assert_int_eq(time.tv_nsec, cases[i].rest);
	}
}
END_TEST

/* A timeline over a simulated clock. */

#define OFFSET_NS UINT64_C(1700000000000000000)
#define START_NS UINT64_C(5000000000000)
#define START_COUNTER UINT64_C(0x123456789ABC)

static struct px_timeline timeline;

static void begin_timeline(uint64_t scale)
{
	struct px_clock clock = {PX_CLOCK_MONOTONIC, scale};

	/* The timeline begins now; the test uses a round number instead. */
	px_timeline_init(&timeline, &clock, 0);
	timeline.source = PX_CLOCK_HARDWARE;
	timeline.realtime_offset_ns = OFFSET_NS;
	timeline.origin = (struct px_anchor){START_COUNTER, START_NS};
	timeline.last_counter = START_COUNTER;
	timeline.line[0] = (struct px_line){START_COUNTER, START_NS, scale};
}

/* Ticks and nanoseconds after the beginning. */
static void extend(uint64_t counter, uint64_t ns)
{
	px_timeline_extend(&timeline, (struct px_anchor){START_COUNTER + counter, START_NS + ns});
}

static uint64_t convert(uint64_t counter)
{
	return px_timeline_convert(&timeline, START_COUNTER + counter) - OFFSET_NS - START_NS;
}

/* A counter whose rate changes at each step.  It stores the fraction up to the next whole tick. */
struct simulation {
	uint64_t random;
	double ns_per_tick;
	double rate; /* 1 + a few millionths */
	uint64_t ns;
	double ticks_left;
	uint64_t counter;
};

static uint64_t random_below(struct simulation *simulation, uint64_t limit)
{
	return next_random(&simulation->random) % limit;
}

static void begin_simulation(struct simulation *simulation, double ns_per_tick)
{
	*simulation =
		(struct simulation){.random = test_seed(), .ns_per_tick = ns_per_tick, .rate = 1};
}

static uint64_t ticks_after(const struct simulation *simulation, uint64_t ns)
{
	return (uint64_t)((double)ns / (simulation->ns_per_tick * simulation->rate) +
			  simulation->ticks_left);
}

static void pass_time(struct simulation *simulation, uint64_t ns)
{
	double ticks = (double)ns / (simulation->ns_per_tick * simulation->rate) +
		       simulation->ticks_left;

	simulation->ns += ns;
	simulation->counter += (uint64_t)ticks;
	simulation->ticks_left = ticks - floor(ticks);
}

/* The kernel adjusts its clock by up to 500 ppm; a real second changes it by much less. */
static void drift(struct simulation *simulation)
{
	simulation->rate += ((double)random_below(simulation, 2001) - 1000) * 1e-9;
	if (fabs(simulation->rate - 1) > 5e-4)
		simulation->rate = 1;
}

/* From microseconds to seconds; each order of magnitude is equally likely. */
static uint64_t random_step_ns(struct simulation *simulation)
{
	uint64_t limit = UINT64_C(1000) << random_below(simulation, 21);

	return limit / 2 + random_below(simulation, limit);
}

/* Return an anchor whose counter is up to spread_ns off, but never below the previous one. */
static void extend_noisy(struct simulation *simulation, uint64_t spread_ns, uint64_t *last)
{
	int64_t spread = (int64_t)((double)spread_ns / simulation->ns_per_tick);
	int64_t noise = (int64_t)random_below(simulation, 2 * (uint64_t)spread + 1) - spread;
	uint64_t counter = simulation->counter + (uint64_t)noise;

	if ((int64_t)(counter - *last) < 0)
		counter = *last;
	*last = counter;
	extend(counter, simulation->ns);
}

/* INFO-7 INFO-8 */
START_TEST(timeline_drifting_clock_is_met_within_200_ns)
{
	static const double rates[] = {0.29, 0.333, 0.41, 1, 10, 40};
	struct simulation simulation;
	uint64_t last = 0;

	begin_simulation(&simulation, rates[_i]);
	/* The first reading of the clock was wrong by 300 ppm. */
	begin_timeline(scale_of(rates[_i] * 1.0003));
	for (int i = 0; i < 20000; i++) {
		uint64_t step_ns = random_step_ns(&simulation);
		uint64_t ns = simulation.ns;
		uint64_t truth[5], counter[5];

		for (unsigned int k = 0; k < 5; k++) {
			truth[k] = ns + step_ns * k / 5;
			counter[k] = simulation.counter + ticks_after(&simulation, step_ns * k / 5);
		}
		pass_time(&simulation, step_ns);
		extend_noisy(&simulation, 50, &last);
		drift(&simulation);
		for (unsigned int k = 0; k < 5; k++)
			ck_assert_msg(distance(convert(counter[k]), truth[k]) <= 200,
				      "step %d of %llu ns: %lld ns off", i,
				      (unsigned long long)step_ns,
				      (long long)(convert(counter[k]) - truth[k]));
	}
}
END_TEST

/* Anchors that are as inexact as on a machine under load: a later conversion never contradicts an earlier one. */
START_TEST(timeline_under_noisy_anchors_never_falls)
{
	static const uint64_t spreads_ns[] = {100, 1000, 20000, 500000, 5000000};
	struct simulation simulation;
	uint64_t from = 0, last = 0, time = 0;

	begin_simulation(&simulation, 0.333);
	begin_timeline(scale_of(0.333 * 0.999));
	for (int i = 0; i < 50000; i++) {
		pass_time(&simulation, random_step_ns(&simulation) / 100 + 1);
		drift(&simulation);
		extend_noisy(&simulation, spreads_ns[_i], &last);
		/* Convert as a reader does: everything below the anchor, in order. */
		for (uint64_t k = 0; k < 5; k++) {
			uint64_t converted = convert(from + (last - from) / 5 * k);

			ck_assert_msg((int64_t)(converted - time) >= 0, "anchor %d: back by %lld",
				      i, (long long)(time - converted));
			time = converted;
		}
		from = last;
	}
}
END_TEST

START_TEST(timeline_all_that_it_knows_never_falls_with_the_counter)
{
	struct simulation simulation;
	uint64_t last = 0, time;

	begin_simulation(&simulation, 0.4);
	begin_timeline(scale_of(0.4));
	for (int i = 0; i < 500; i++) {
		pass_time(&simulation, random_step_ns(&simulation));
		extend_noisy(&simulation, 2000, &last);
	}
	time = px_timeline_convert(&timeline, START_COUNTER - last / 10);
	for (uint64_t i = 0; i <= 100000; i++) {
		uint64_t counter = START_COUNTER - last / 10 + last / 80000 * i;
		uint64_t converted = px_timeline_convert(&timeline, counter);

		ck_assert_int_ge((int64_t)(converted - time), 0);
		time = converted;
	}
}
END_TEST

START_TEST(timeline_anchor_within_tolerance_keeps_the_line)
{
	begin_timeline(SCALE_ONE);
	extend(1000000, 1000100);
	extend(2000000, 1999900);
	ck_assert_uint_eq(timeline.nr_lines, 1);
	ck_assert_uint_eq(convert(1500000), 1500000);
	extend(3000000, 3000101);
	ck_assert_uint_eq(timeline.nr_lines, 2);
	/* Begin at the end of the line, not at the time that the anchor gave. */
	ck_assert_uint_eq(convert(2000000), 2000000);
	ck_assert_uint_le(distance(convert(3000000), 3000101), 1);
}
END_TEST

START_TEST(timeline_each_part_has_its_own_line)
{
	begin_timeline(SCALE_ONE);
	extend(1000000, 2000000); /* 2 ns for each tick */
	extend(2000000, 2500000); /* half a nanosecond */
	extend(3000000, 5500000);
	ck_assert_uint_le(distance(convert(250000), 500000), 1);
	ck_assert_uint_le(distance(convert(1000000), 2000000), 1);
	ck_assert_uint_le(distance(convert(1500000), 2250000), 1);
	ck_assert_uint_le(distance(convert(2000000), 2500000), 1);
	ck_assert_uint_le(distance(convert(2250000), 3250000), 1);
	ck_assert_uint_le(distance(convert(3000000), 5500000), 1);
}
END_TEST

/* Here the slope of the last line changes, by half of the difference, to meet the clock again. */
START_TEST(timeline_scale_is_that_of_the_long_run)
{
	begin_timeline(2 * SCALE_ONE);
	ck_assert_uint_eq(px_timeline_scale(&timeline), 2 * SCALE_ONE);
	extend(500000, 500000);
	ck_assert_uint_eq(px_timeline_scale(&timeline), 2 * SCALE_ONE);
	extend(100 * 1000000, 100 * 1000000);
	ck_assert_uint_le(distance(px_timeline_scale(&timeline), SCALE_ONE), SCALE_ONE / 1000000);
	extend(100 * 1000000 + 5000, 100 * 1000000 + 50000);
	ck_assert_uint_gt(timeline.line[timeline.nr_lines - 1].scale, SCALE_ONE / 100 * 101);
	ck_assert_uint_le(distance(px_timeline_scale(&timeline), SCALE_ONE), SCALE_ONE / 1000);
}
END_TEST

START_TEST(timeline_anchor_that_is_not_newer_is_ignored)
{
	struct px_timeline before;

	begin_timeline(SCALE_ONE);
	extend(1000000, 1000000);
	before = timeline;
	extend(1000000, 9000000);
	extend(999999, 9000000);
	extend((uint64_t)-5, 0);
	ck_assert_mem_eq(&timeline, &before, sizeof(timeline));
}
END_TEST

START_TEST(timeline_counters_before_its_beginning_are_earlier)
{
	begin_timeline(SCALE_ONE / 2);
	ck_assert_uint_eq(convert((uint64_t)-2000000000), (uint64_t)-1000000000);
	extend(1000000, 500000);
	ck_assert_uint_eq(convert((uint64_t)-2000000000), (uint64_t)-1000000000);
}
END_TEST

/*
 * The timeline keeps only the last lines.  Older counters are on a straight line from the beginning to the first of
 * them.
 */
START_TEST(timeline_of_more_lines_than_it_keeps_forgets_the_oldest)
{
	uint64_t ns = 0;

	begin_timeline(SCALE_ONE);
	for (uint64_t i = 1; i <= 100; i++) {
		ns += i % 2 ? 1000000 : 1002000;
		extend(i * 1000000, ns);
		ck_assert_uint_le(timeline.nr_lines, PX_TIMELINE_LINES);
	}
	ck_assert_uint_eq(timeline.nr_lines, PX_TIMELINE_LINES);
	ck_assert_uint_le(distance(convert(100 * 1000000), ns), 1);
	ck_assert_uint_le(distance(convert(90 * 1000000), 90 * UINT64_C(1001000)), 1);
	ck_assert_uint_le(distance(convert(10 * 1000000), 10 * UINT64_C(1001000)), 1000);
	ck_assert_uint_le(distance(convert(50 * 1000000), 50 * UINT64_C(1001000)), 1000);
}
END_TEST

START_TEST(timeline_day_without_anchor_is_converted_in_full)
{
	const uint64_t day_ns = 86400 * NS_PER_S;
	const double ns_per_tick = 0.29;
	uint64_t counter = (uint64_t)((double)day_ns / ns_per_tick);

	begin_timeline(scale_of(ns_per_tick));
	ck_assert_uint_le(distance(convert(counter), day_ns), 100000);
	extend(counter, day_ns);
	ck_assert_uint_le(distance(convert(counter), day_ns), 200);
	ck_assert_uint_le(distance(convert(counter / 2), day_ns / 2), 200);
}
END_TEST

START_TEST(timeline_counter_that_passes_64_bits_goes_on)
{
	begin_timeline(SCALE_ONE);
	timeline.origin.counter = timeline.last_counter = timeline.line[0].counter = UINT64_MAX -
										     10;
	ck_assert_uint_eq(px_timeline_convert(&timeline, 9), OFFSET_NS + START_NS + 20);
	px_timeline_extend(&timeline, (struct px_anchor){999989, START_NS + 2000000});
	ck_assert_uint_le(
		distance(px_timeline_convert(&timeline, 499989), OFFSET_NS + START_NS + 1000000),
		1);
	ck_assert_uint_le(px_timeline_convert(&timeline, UINT64_MAX), OFFSET_NS + START_NS + 21);
}
END_TEST

/* If an interrupt delays a reading, two anchors have nearly the same counter but very different times. */
START_TEST(timeline_anchor_far_off_is_forgotten_soon)
{
	begin_timeline(SCALE_ONE);
	extend(1000000, 1000000);
	extend(1000001, 2000000);
	extend(3000000, 3000000);
	extend(4000000, 4000000);
	extend(8000000, 8000000);
	ck_assert_uint_le(distance(convert(8000000), 8000000), 200);
	ck_assert_uint_le(distance(convert(7000000), 7000000), 200);
}
END_TEST

/* INFO-8 */
START_TEST(timeline_of_the_monotonic_clock_is_exact)
{
	struct px_clock clock = {PX_CLOCK_MONOTONIC, SCALE_ONE};

	px_timeline_init(&timeline, &clock, OFFSET_NS);
	for (int i = 0; i < 1000; i++) {
		struct px_anchor anchor = px_clock_anchor(PX_CLOCK_MONOTONIC);

		px_timeline_extend(&timeline, anchor);
		ck_assert_uint_eq(px_timeline_convert(&timeline, anchor.counter),
				  anchor.ns + OFFSET_NS);
	}
	ck_assert_uint_eq(timeline.nr_lines, 1);
}
END_TEST

/* INFO-8 */
START_TEST(timeline_begins_now)
{
	struct px_clock clock = px_clock_best();
	uint64_t ns[2], counter[2];

	ns[0] = now_ns(CLOCK_MONOTONIC);
	counter[0] = px_clock_read(clock.source);
	px_timeline_init(&timeline, &clock, OFFSET_NS);
	counter[1] = px_clock_read_later(clock.source);
	ns[1] = now_ns(CLOCK_MONOTONIC);
	ck_assert_uint_le(px_timeline_convert(&timeline, counter[0]), ns[1] + OFFSET_NS);
	ck_assert_uint_ge(px_timeline_convert(&timeline, counter[1]), ns[0] + OFFSET_NS);
	ck_assert_uint_ge(timeline.origin.ns, ns[0]);
	ck_assert_uint_le(timeline.origin.ns, ns[1]);
}
END_TEST

/* INFO-8 CRTIME-2 */
START_TEST(clock_realtime_offset_leads_from_one_clock_to_the_other)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t before = now_ns(CLOCK_REALTIME);
		uint64_t ns = now_ns(CLOCK_MONOTONIC) + px_clock_realtime_offset_ns();

		/* The kernel adjusts both clocks equally, so only the time of a reading is left. */
		ck_assert_int_ge((int64_t)(ns - before), -20000);
		ck_assert_int_le((int64_t)(ns - now_ns(CLOCK_REALTIME)), 20000);
	}
}
END_TEST

/* INFO-7 */
START_TEST(timeline_of_this_machine_follows_the_kernels_clock)
{
	struct px_clock clock = px_clock_best();
	uint64_t random = test_seed();

	px_timeline_init(&timeline, &clock, px_clock_realtime_offset_ns());
	for (int i = 0; i < 2000; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);
		uint64_t counter = px_clock_read(clock.source);
		uint64_t after = now_ns(CLOCK_MONOTONIC);
		uint64_t ns;

		if (next_random(&random) % 64 == 0)
			sleep_ms((unsigned int)(next_random(&random) % 4));
		px_timeline_extend(&timeline, px_clock_anchor(clock.source));
		ns = px_timeline_convert(&timeline, counter) - timeline.realtime_offset_ns;
		/* The error of a single anchor, on a machine that is busy with other work. */
		ck_assert_int_ge((int64_t)(ns - before), -20000);
		ck_assert_int_le((int64_t)(ns - after), 20000);
	}
}
END_TEST

/* Events. */

static trace_id_t start_stream(size_t size)
{
	trace_id_t trid = px_test_create(&(struct px_test_stream){.size = size, .nr_rings = 1});

	ok(posix_trace_start(trid));
	return trid;
}

/* The offset is that of the creation.  The time to allocate a large stream must not be part of it. */
/* INFO-7 INFO-8 */
START_TEST(event_time_is_monotonic_plus_the_offset_of_creation)
{
	uint64_t offset_before = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	trace_id_t trid = start_stream(_i == 0 ? 0 : 48 << 20);
	uint64_t offset_after = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
	uint64_t low = offset_before < offset_after ? offset_before : offset_after;
	uint64_t high = offset_before + offset_after - low;
	struct px_test_event event;

	px_test_expect(trid, POSIX_TRACE_START, &event);
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);
		uint64_t after, time;

		px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, i);
		after = now_ns(CLOCK_MONOTONIC);
		px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
		time = px_test_ns(event.info.posix_timestamp);
		ck_assert_msg(time + 20000 >= before + low, "%llu ns too early",
			      (unsigned long long)(before + low - time));
		ck_assert_msg(time <= after + high + 20000, "%llu ns too late",
			      (unsigned long long)(time - after - high));
		sleep_ms(1);
	}
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* INFO-8 CRTIME-2 */
START_TEST(event_time_is_not_before_the_creation_time)
{
	struct timespec created;
	struct px_test_event event;
	trace_attr_t attr;
	trace_id_t trid = start_stream(0);

	ok(posix_trace_get_attr(trid, &attr));
	ok(posix_trace_attr_getcreatetime(&attr, &created));
	px_test_expect(trid, POSIX_TRACE_START, &event);
	ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), px_test_ns(created));
	ck_assert_uint_lt(px_test_ns(event.info.posix_timestamp) - px_test_ns(created),
			  10 * NS_PER_S);
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* INFO-7 INFO-8 CLKRES-1 */
START_TEST(event_times_of_a_thread_never_fall_and_tell_short_pauses_apart)
{
	trace_id_t trid = start_stream(1 << 20);
	struct px_test_event event;
	uint64_t last, first = 0;

	px_test_expect(trid, POSIX_TRACE_START, &event);
	last = px_test_ns(event.info.posix_timestamp);
	for (int round = 0; round < 50; round++) {
		uint64_t until = monotonic_ns() + 20000;

		for (uint32_t i = 0; i < 100; i++)
			px_test_trace(POSIX_TRACE_UNNAMED_USEREVENT, i);
		for (uint32_t i = 0; i < 100; i++) {
			px_test_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, &event);
			ck_assert_uint_ge(px_test_ns(event.info.posix_timestamp), last);
			last = px_test_ns(event.info.posix_timestamp);
			if (i == 0 && round > 0)
				ck_assert_uint_gt(last, first + 10000);
			if (i == 0)
				first = last;
		}
		while (monotonic_ns() < until)
			;
	}
	ok(posix_trace_shutdown(trid));
}
END_TEST

/* CLKRES-1 CLKRES-2 */
START_TEST(clock_resolution_is_that_of_the_kernels_clock)
{
	struct timespec resolution, wanted;
	trace_attr_t attr;
	trace_id_t trid;

	clock_getres(CLOCK_MONOTONIC, &wanted);
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert_uint_eq(px_test_ns(resolution), px_test_ns(wanted));
	ck_assert_uint_gt(px_test_ns(resolution), 0);
	trid = px_test_create(&(struct px_test_stream){0});
	ok(posix_trace_get_attr(trid, &attr));
	ok(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert_uint_eq(px_test_ns(resolution), px_test_ns(wanted));
	ok(posix_trace_shutdown(trid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *readings = tcase_create("readings");
	TCase *lines = tcase_create("timeline");
	TCase *events = tcase_create("events");

	tcase_set_timeout(readings, 60);
#if defined __x86_64__ || defined __aarch64__
	tcase_add_test(readings, clock_that_stands_still_ends_each_wait);
#endif
	tcase_add_test(readings, clock_best_scale_agrees_with_the_kernels_clock);
	tcase_add_test(readings, clock_best_asked_again_gives_the_same);
	tcase_add_test(readings, clock_shift_makes_ticks_of_64_to_128_ns);
	tcase_add_loop_test(readings, clock_read_later_is_above_all_reads_before, 0, 2);
	tcase_add_loop_test(readings, clock_anchor_lies_between_readings_of_both_clocks, 0, 2);
	tcase_add_test(readings, clock_nanoseconds_are_those_of_the_kernels_clocks);
	tcase_add_test(readings, clock_realtime_offset_leads_from_one_clock_to_the_other);
	tcase_add_test(readings, clock_timespec_keeps_seconds_and_nanoseconds_apart);
	suite_add_tcase(suite, readings);

	tcase_set_timeout(lines, 60);
	tcase_add_loop_test(lines, timeline_drifting_clock_is_met_within_200_ns, 0, 6);
	tcase_add_loop_test(lines, timeline_under_noisy_anchors_never_falls, 0, 5);
	tcase_add_test(lines, timeline_all_that_it_knows_never_falls_with_the_counter);
	tcase_add_test(lines, timeline_anchor_within_tolerance_keeps_the_line);
	tcase_add_test(lines, timeline_each_part_has_its_own_line);
	tcase_add_test(lines, timeline_scale_is_that_of_the_long_run);
	tcase_add_test(lines, timeline_anchor_that_is_not_newer_is_ignored);
	tcase_add_test(lines, timeline_counters_before_its_beginning_are_earlier);
	tcase_add_test(lines, timeline_of_more_lines_than_it_keeps_forgets_the_oldest);
	tcase_add_test(lines, timeline_day_without_anchor_is_converted_in_full);
	tcase_add_test(lines, timeline_counter_that_passes_64_bits_goes_on);
	tcase_add_test(lines, timeline_anchor_far_off_is_forgotten_soon);
	tcase_add_test(lines, timeline_of_the_monotonic_clock_is_exact);
	tcase_add_test(lines, timeline_begins_now);
	tcase_add_test(lines, timeline_of_this_machine_follows_the_kernels_clock);
	suite_add_tcase(suite, lines);

	tcase_set_timeout(events, 60);
	tcase_add_loop_test(events, event_time_is_monotonic_plus_the_offset_of_creation, 0, 2);
	tcase_add_test(events, event_time_is_not_before_the_creation_time);
	tcase_add_test(events, event_times_of_a_thread_never_fall_and_tell_short_pauses_apart);
	tcase_add_test(events, clock_resolution_is_that_of_the_kernels_clock);
	suite_add_tcase(suite, events);

	return run_suite(suite);
}
