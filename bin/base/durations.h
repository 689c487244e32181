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

#define LENGTHS_EXACT 1024

struct lengths {
	uint64_t n, largest;
	int64_t sum;
	uint64_t *value; /* NULL once there is a histogram */
	bool is_sorted;
	struct histogram *histogram;
};

/* All zero is empty. */
void lengths_add(struct lengths *lengths, int64_t ns);
void lengths_free(struct lengths *lengths);

/* The least length that so many percent of all do not exceed; 0 if there are none. */
uint64_t lengths_percentile(struct lengths *lengths, unsigned int percent);

#endif
