/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations.  Its memory does not grow with the number of durations.  One part of the histogram counts
 * all durations that differ by less than 1 to 2 %.  For each of these durations, the histogram returns the mean of all
 * durations in the part.  Durations below 128 ns and the largest duration are exact.
 */
#ifndef TXTRACE_BASE_HISTOGRAM_H
#define TXTRACE_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS 64   /* each power of two has this number of parts */
#define HISTOGRAM_OCTAVES 57 /* number of powers of two, from 2^7 to 2^63 */

struct histogram {
	uint64_t n, largest;
	struct histogram_part {
		uint64_t n, sum;
	} * part[1 + HISTOGRAM_OCTAVES]; /* part[0] counts values below 128; a row without values is NULL */
};

void histogram_add(struct histogram *histogram, uint64_t value);

/*
 * Return a percentile: at least `percent` % of all values are as large as the result or smaller.  Return 0 if there are
 * no values.
 */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

void histogram_free(struct histogram *histogram);

#endif
