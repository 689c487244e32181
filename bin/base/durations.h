/* SPDX-License-Identifier: MIT */
/*
 * Durations and their percentiles.  The first DURATIONS_EXACT values are stored exactly; after that, a histogram stores
 * them all.  So an object with few waits takes little memory, and an object with many waits takes a limited amount.
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
	uint64_t *value; /* NULL if the histogram stores the durations */
	bool is_sorted;
	struct histogram *histogram;
};

/* A struct durations of zeros is empty. */
void durations_add(struct durations *durations, int64_t ns);
void durations_free(struct durations *durations);

/*
 * Return a percentile: at least `percent` % of all durations are as long as the result or shorter.  Return 0 if there
 * are no durations.
 */
uint64_t durations_percentile(struct durations *durations, unsigned int percent);

#endif
