/* SPDX-License-Identifier: MIT */
/*
 * Lengths of time, for their percentiles: exact as long as they are few, and from then on a histogram.  So many objects
 * with a few waits each take little memory, and one with many takes no more.
 */
#ifndef TXTRACE_BASE_DURATIONS_H
#define TXTRACE_BASE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"

#define DURATIONS_EXACT 1024

struct durations {
	uint64_t n, largest;
	int64_t sum;
	uint64_t *value; /* NULL once there is a histogram */
	bool is_sorted;
	struct histogram *histogram;
};

/* All zero is empty. */
void durations_add(struct durations *durations, int64_t ns);
void durations_free(struct durations *durations);

/* The least length that so many percent of all do not exceed; 0 if there are none. */
uint64_t durations_percentile(struct durations *durations, unsigned int percent);

#endif
