/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdbool.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#elif defined __aarch64__
#include <sys/auxv.h>
#endif

#include "base/atomic.h"
#include "base/wide.h"

#define NS_PER_S UINT64_C(1000000000)
#define SCALE_ONE (UINT64_C(1) << 48)
#define CALIBRATION_NS 100000
#define TOLERANCE_NS 100
#define SHORTEST_LINE_NS 100000 /* two anchors with a smaller distance give no exact slope */
#define CATCH_UP_NS 1000000
#define READINGS_MAX 1000000 /* if a clock has not moved after so many readings, it stands still */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t px_clock_boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

uint64_t px_clock_program_realtime_ns(void)
{
	struct timespec now;

	px_system_program_clock(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t px_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t px_clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/*
 * Read both clocks several times and use the pair that was read in the shortest time, as
 * px_clock_anchor() does.
 */
uint64_t px_clock_realtime_offset_ns(void)
{
	uint64_t best_width = UINT64_MAX, offset = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = px_clock_monotonic_ns();
		uint64_t realtime = px_clock_realtime_ns();
		uint64_t width = px_clock_monotonic_ns() - before;

		if (width < best_width) {
			best_width = width;
			offset = realtime - (before + width / 2);
		}
	}
	return offset;
}

struct timespec px_clock_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

#if defined __x86_64__ || defined __i386__
/* The kernel uses the TSC as its clock only while all CPUs agree on it.  LFENCE is an instruction of SSE2. */
static bool hardware_is_sound(void)
{
	char name[16] = "";
	unsigned int eax, ebx, ecx, edx;
	ssize_t length;
	int fd;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(edx & bit_SSE2) ||
	    !__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & 1u << 8))
		return false;
	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, name, sizeof(name) - 1);
	close(fd);
	return length == 4 && memcmp(name, "tsc\n", 4) == 0;
}
#elif defined __aarch64__
#ifndef HWCAP2_ECV
#define HWCAP2_ECV (1 << 19) /* Linux 5.17 */
#endif

uint32_t px_clock_is_synchronized;

__attribute__((constructor(101))) static void begin(void)
{
	px_write_once(&px_clock_is_synchronized, (getauxval(AT_HWCAP2) & HWCAP2_ECV) != 0);
}

static bool hardware_is_sound(void)
{
	return true; /* the architecture has one system counter for all CPUs */
}
#else
static bool hardware_is_sound(void)
{
	return false;
}
#endif

uint64_t px_clock_read_later(enum px_clock_source source)
{
	uint64_t first, now;

	px_clock_after_stores();
	first = now = px_clock_read(source);
	for (int i = 0; i < READINGS_MAX && now == first; i++)
		now = px_clock_read(source);
	return now;
}

/*
 * Read the pair several times and use the pair that was read in the shortest time.  An interrupt
 * between the two reads would falsify the pair.
 */
struct px_anchor px_clock_anchor(enum px_clock_source source)
{
	struct px_anchor best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	if (source == PX_CLOCK_MONOTONIC) {
		best.counter = px_clock_read_later(source);
		best.ns = best.counter;
		return best;
	}
	for (int i = 0; i < 3; i++) {
		uint64_t before = px_clock_read(source);
		uint64_t ns = px_clock_monotonic_ns();
		uint64_t after = px_clock_read_later(source);

		if (after - before < best_width) {
			best_width = after - before;
			best.ns = ns;
			best.counter = before + best_width / 2;
		}
	}
	return best;
}

static uint64_t scale_between(struct px_anchor from, struct px_anchor to)
{
	return px_multiply_divide(to.ns - from.ns, SCALE_ONE, to.counter - from.counter);
}

/* Return 0 if the clock stands still. */
static uint64_t measure_hardware(void)
{
	struct px_anchor from = px_clock_anchor(PX_CLOCK_HARDWARE);
	struct px_anchor to = from;

	for (int i = 0; i < READINGS_MAX && to.ns - from.ns < CALIBRATION_NS; i++)
		to = px_clock_anchor(PX_CLOCK_HARDWARE);
	return to.ns - from.ns < CALIBRATION_NS ? 0 : scale_between(from, to);
}

/*
 * Cache only the scale of the hardware counter.  Check the counter itself again at each call,
 * because the kernel may stop trusting it at any time.
 */
struct px_clock px_clock_best(void)
{
	static uint64_t hardware_scale; /* 0: not measured; two threads may measure it at once */
	uint64_t scale;

	if (!hardware_is_sound())
		return (struct px_clock){PX_CLOCK_MONOTONIC, SCALE_ONE};
	scale = px_read_once(&hardware_scale);
	if (scale == 0) {
		scale = measure_hardware();
		if (scale == 0)
			return (struct px_clock){PX_CLOCK_MONOTONIC, SCALE_ONE};
		px_write_once(&hardware_scale, scale);
	}
	return (struct px_clock){PX_CLOCK_HARDWARE, scale};
}

unsigned int px_clock_shift(uint64_t scale)
{
	unsigned int shift = 0;

	while (shift < 32 && scale <= SCALE_ONE * 128 >> (shift + 1))
		shift++;
	return shift;
}

static uint64_t along(const struct px_line *line, uint64_t counter)
{
	if ((int64_t)(counter - line->counter) < 0)
		return line->ns - px_multiply_shift(line->counter - counter, line->scale, 48);
	return line->ns + px_multiply_shift(counter - line->counter, line->scale, 48);
}

void px_timeline_init(struct px_timeline *timeline, const struct px_clock *clock,
		      uint64_t realtime_offset_ns)
{
	struct px_anchor anchor = px_clock_anchor(clock->source);

	memset(timeline, 0, sizeof(*timeline));
	timeline->source = clock->source;
	timeline->realtime_offset_ns = realtime_offset_ns;
	timeline->origin = anchor;
	timeline->last_counter = anchor.counter;
	timeline->nr_lines = 1;
	timeline->line[0] = (struct px_line){anchor.counter, anchor.ns, clock->scale};
}

static void append(struct px_timeline *timeline, struct px_line line)
{
	if (timeline->nr_lines == PX_TIMELINE_LINES) {
		memmove(timeline->line, timeline->line + 1,
			(PX_TIMELINE_LINES - 1) * sizeof(timeline->line[0]));
		timeline->nr_lines--;
	}
	timeline->line[timeline->nr_lines++] = line;
}

/*
 * Return the slope of the line from one anchor to the next.  If the anchors are too close for a
 * slope, or time would go backwards, use the average slope since the origin.  Change this slope by
 * at most 50 %, so that the line meets the clock again after CATCH_UP_NS.
 */
static uint64_t next_scale(const struct px_timeline *timeline, struct px_anchor from,
			   struct px_anchor to)
{
	int64_t distance_ns = (int64_t)(to.ns - from.ns);
	uint64_t scale = timeline->line[timeline->nr_lines - 1].scale;
	double bend;

	if (distance_ns >= SHORTEST_LINE_NS)
		return scale_between(from, to);
	if (to.ns - timeline->origin.ns >= CATCH_UP_NS)
		scale = scale_between(timeline->origin, to);
	bend = ((double)(int64_t)(to.ns - from.ns) -
		(double)(to.counter - from.counter) * (double)scale / (double)SCALE_ONE) /
	       CATCH_UP_NS;
	bend = bend > 0.5 ? 0.5 : bend < -0.5 ? -0.5 : bend;
	return (uint64_t)((double)scale * (1 + bend));
}

void px_timeline_extend(struct px_timeline *timeline, struct px_anchor anchor)
{
	struct px_line *line = &timeline->line[timeline->nr_lines - 1];
	struct px_anchor from = {timeline->last_counter, 0};
	int64_t error_ns = (int64_t)(anchor.ns - along(line, anchor.counter));

	if ((int64_t)(anchor.counter - timeline->last_counter) <= 0)
		return;
	from.ns = along(line, from.counter);
	timeline->last_counter = anchor.counter;
	if (error_ns >= -TOLERANCE_NS && error_ns <= TOLERANCE_NS)
		return;
	append(timeline,
	       (struct px_line){from.counter, from.ns, next_scale(timeline, from, anchor)});
}

/*
 * Measure from the origin, because next_scale() may have bent the last line so that it meets the
 * clock again.
 */
uint64_t px_timeline_scale(const struct px_timeline *timeline)
{
	const struct px_line *youngest = &timeline->line[timeline->nr_lines - 1];
	struct px_anchor last = {timeline->last_counter, 0};

	last.ns = along(youngest, last.counter);
	if (last.ns - timeline->origin.ns < CATCH_UP_NS)
		return timeline->line[0].scale;
	return scale_between(timeline->origin, last);
}

/*
 * Convert a counter before the first line that the timeline still keeps.  Use the straight line from the origin to that
 * line.  The first line itself may be short, and its slope too inexact for a long distance.
 */
static PX_COLD uint64_t convert_old(const struct px_timeline *timeline, uint64_t counter)
{
	const struct px_line *first = &timeline->line[0];
	struct px_line old = {timeline->origin.counter, timeline->origin.ns, first->scale};

	if ((int64_t)(first->counter - old.counter) > 0 && (int64_t)(first->ns - old.ns) > 0)
		old.scale = scale_between(timeline->origin,
					  (struct px_anchor){first->counter, first->ns});
	return along(&old, counter);
}

uint64_t px_timeline_convert(const struct px_timeline *timeline, uint64_t counter)
{
	unsigned int i = timeline->nr_lines - 1;

	while ((int64_t)(counter - timeline->line[i].counter) < 0)
		if (i-- == 0)
			return convert_old(timeline, counter) + timeline->realtime_offset_ns;
	return along(&timeline->line[i], counter) + timeline->realtime_offset_ns;
}

bool px_timeline_piece(const struct px_timeline *timeline, uint64_t counter, struct px_piece *piece)
{
	unsigned int i = timeline->nr_lines - 1;
	uint64_t width = UINT64_C(1) << 63;

	while ((int64_t)(counter - timeline->line[i].counter) < 0) {
		if (i == 0)
			return false;
		i--;
		width = timeline->line[i + 1].counter - timeline->line[i].counter;
	}
	*piece = (struct px_piece){.counter = timeline->line[i].counter,
				   .width = width,
				   .ns = timeline->line[i].ns + timeline->realtime_offset_ns,
				   .scale = timeline->line[i].scale};
	return true;
}
