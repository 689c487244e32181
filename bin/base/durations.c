/* SPDX-License-Identifier: MIT */
#include "base/durations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"

static void make_histogram(struct durations *durations)
{
	durations->histogram = must(calloc(1, sizeof(*durations->histogram)));
	for (uint64_t i = 0; i < durations->n; i++)
		histogram_add(durations->histogram, durations->value[i]);
	free(durations->value);
	durations->value = NULL;
}

void durations_add(struct durations *durations, int64_t ns)
{
	uint64_t length = ns > 0 ? (uint64_t)ns : 0;

	if (durations->n == DURATIONS_EXACT)
		make_histogram(durations);
	if (durations->histogram) {
		histogram_add(durations->histogram, length);
	} else {
		if ((durations->n & (durations->n - 1)) == 0)
			durations->value = must(reallocarray(durations->value,
							     durations->n ? 2 * durations->n : 1,
							     sizeof(*durations->value)));
		durations->value[durations->n] = length;
		durations->is_sorted = false;
	}
	durations->n++;
	units_add(&durations->sum, (int64_t)length);
	if (length > durations->largest)
		durations->largest = length;
}

void durations_free(struct durations *durations)
{
	if (durations->histogram)
		histogram_free(durations->histogram);
	free(durations->histogram);
	free(durations->value);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

uint64_t durations_percentile(struct durations *durations, unsigned int percent)
{
	uint64_t rank = (durations->n * percent + 99) / 100;

	if (durations->histogram)
		return histogram_percentile(durations->histogram, percent);
	if (durations->n == 0)
		return 0;
	if (!durations->is_sorted)
		qsort(durations->value, durations->n, sizeof(*durations->value), compare);
	durations->is_sorted = true;
	return durations->value[rank > 0 ? rank - 1 : 0];
}
