/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations.  Its memory does not grow with the number of durations.  Durations that differ by less than
 * 1 to 2 % share a part of the histogram.  For each of them, the histogram returns the mean of all durations in the
 * part.  Durations below 128 ns and the largest duration are exact.
 */
#ifndef TXTRACE_BASE_HISTOGRAM_H
#define TXTRACE_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS 64   /* parts of each power of two */
#define HISTOGRAM_OCTAVES 57 /* powers of two from 2^7 to 2^63 */

struct histogram {
	uint64_t n, largest;
	struct histogram_part {
		uint64_t n, sum;
	} * part[1 + HISTOGRAM_OCTAVES]; /* NULL: empty; part[0] is for values below 128 */
};

void histogram_add(struct histogram *histogram, uint64_t value);

/*
 * Return the smallest value such that at least `percent` % of all values are not larger.  Return 0 if there are no
 * values.
 */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

void histogram_free(struct histogram *histogram);

#endif
