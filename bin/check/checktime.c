/* SPDX-License-Identifier: MIT */
#include "check/checktime.h"

/*
 * A step against the direction of time has two possible causes.  If the step is at most 1 / SMALL_PART of the range,
 * the event is out of order.  A larger step means that the stamp has wrapped in a pause.
 */
#define SMALL_PART 16

/* If more than 1 / DOUBTFUL_PART of the votes are for the other direction, the result may be wrong. */
#define DOUBTFUL_PART 4

void check_time_vote(struct check_time *time, uint32_t stamp, uint64_t place)
{
	stamp &= time->mask;
	if (place >= 2) {
		time->nr_up += stamp > time->last;
		time->nr_down += stamp < time->last;
	}
	if (time->nr_events++ == 0)
		time->first = stamp;
	if (stamp != time->first)
		time->differs = true;
	if (stamp > time->largest)
		time->largest = stamp;
	time->last = stamp;
}

void check_time_decide(struct check_time *time, uint64_t offset)
{
	unsigned long long up = time->nr_up, down = time->nr_down;

	time->rises = up > down;
	if (time->nr_events < 2)
		return;
	if (!time->differs) {
		findings_add(time->findings, RULE_time_static, offset,
			     "all events have the stamp 0x%x: for TraceX no time passes, so it has no time view",
			     time->first);
		return;
	}
	time->is_decided = up != down;
	if (!time->is_decided)
		findings_add(
			time->findings, RULE_time_direction, offset,
			"%llu steps of the stamps go up and %llu go down: without a majority, TraceX assumes that "
			"time falls, and that each step up is a wrap",
			up, down);
	else if ((up < down ? up : down) * DOUBTFUL_PART > up + down)
		findings_add(
			time->findings, RULE_time_doubtful, offset,
			"%llu steps of the stamps go up and %llu go down: TraceX follows the majority, but either "
			"most pauses are longer than half the range of the stamps, or events are out of order",
			up, down);
	else if (!time->rises)
		findings_add(
			time->findings, RULE_time_falls, offset,
			"the stamps fall: this is correct only for a timer that counts down");
}

static void report_order(struct check_time *time, uint64_t offset, uint32_t back, uint64_t added)
{
	findings_add(time->findings, RULE_time_order, offset,
		     "the event is %u ticks older than the previous one: TraceX takes this for a wrap, and shows this "
		     "and all later events %llu ticks too late",
		     back, (unsigned long long)added);
}

static void report_gap(struct check_time *time, uint64_t offset, uint64_t step)
{
	findings_add(
		time->findings, RULE_time_gap, offset,
		"%llu ticks pass before this event, more than half the range of the stamps: the "
		"pause may have been longer by a multiple of %llu",
		(unsigned long long)step, (unsigned long long)time->mask + 1);
}

void check_time_step(struct check_time *time, uint32_t stamp, uint64_t offset)
{
	uint64_t range = (uint64_t)time->mask + 1;
	uint32_t before = time->last;
	uint32_t distance;

	stamp &= time->mask;
	time->last = stamp;
	if (time->nr_steps++ == 0 || !time->is_decided || stamp == before)
		return;
	distance = stamp > before ? stamp - before : before - stamp;
	if ((stamp > before) != time->rises) {
		time->nr_wraps++;
		if (distance <= range / SMALL_PART)
			report_order(time, offset, distance, range - distance);
		else if (range - distance > range / 2)
			report_gap(time, offset, range - distance);
	} else if (distance > range / 2) {
		report_gap(time, offset, distance);
	}
}

void check_time_end(struct check_time *time, uint64_t offset)
{
	if (time->nr_wraps > 0 && time->largest <= time->mask / 2)
		findings_add(
			time->findings, RULE_clock_range, offset,
			"the stamps go back %llu times, but no stamp is above 0x%x, and the mask is 0x%x: the clock "
			"does not use the whole mask, so TraceX adds %u ticks too many each time",
			(unsigned long long)time->nr_wraps, time->largest, time->mask,
			time->mask - time->largest);
}
