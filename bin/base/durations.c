/* SPDX-License-Identifier: MIT */
#include "base/durations.h"

#include <stdlib.h>

#include "base/memory.h"

static void make_histogram(struct lengths *lengths)
{
	lengths->histogram = must(calloc(1, sizeof(*lengths->histogram)));
	for (uint64_t i = 0; i < lengths->n; i++)
		histogram_add(lengths->histogram, lengths->value[i]);
	free(lengths->value);
	lengths->value = NULL;
}

void lengths_add(struct lengths *lengths, int64_t ns)
{
	uint64_t length = ns > 0 ? (uint64_t)ns : 0;

	if (lengths->n == LENGTHS_EXACT)
		make_histogram(lengths);
	if (lengths->histogram) {
		histogram_add(lengths->histogram, length);
	} else {
		if ((lengths->n & (lengths->n - 1)) == 0)
			lengths->value = must(reallocarray(lengths->value,
							   lengths->n ? 2 * lengths->n : 1,
							   sizeof(*lengths->value)));
		lengths->value[lengths->n] = length;
		lengths->is_sorted = false;
	}
	lengths->n++;
	lengths->sum += (int64_t)length;
	if (length > lengths->largest)
		lengths->largest = length;
}

void lengths_free(struct lengths *lengths)
{
	if (lengths->histogram)
		histogram_free(lengths->histogram);
	free(lengths->histogram);
	free(lengths->value);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

uint64_t lengths_percentile(struct lengths *lengths, unsigned int percent)
{
	uint64_t rank = (lengths->n * percent + 99) / 100;

	if (lengths->histogram)
		return histogram_percentile(lengths->histogram, percent);
	if (lengths->n == 0)
		return 0;
	if (!lengths->is_sorted)
		qsort(lengths->value, lengths->n, sizeof(*lengths->value), compare);
	lengths->is_sorted = true;
	return lengths->value[rank > 0 ? rank - 1 : 0];
}
