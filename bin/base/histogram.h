/* SPDX-License-Identifier: MIT */
/*
 * How often which durations were, in memory that does not grow with their number.  Those that differ by less than 1 to 2 %
 * are taken together, with their mean.  Below 128 ns and the largest all are exact.
 */
#ifndef TXTRACE_BASE_HISTOGRAM_H
#define TXTRACE_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS 64   /* of each power of two */
#define HISTOGRAM_OCTAVES 57 /* from 2^7 to what fits */

struct histogram {
	uint64_t n, largest;
	struct histogram_part {
		uint64_t n, sum;
	} * part[1 + HISTOGRAM_OCTAVES]; /* NULL: none of them; part[0] are those below 128 */
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* The least value that so many percent of all do not exceed; 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent);

void histogram_free(struct histogram *histogram);

#endif
