/* SPDX-License-Identifier: MIT */
#include "base/histogram.h"

#include <stdlib.h>

#include "base/memory.h"

#define EXACT 128
#define EXACT_BITS 7

/* Return the row of a value. *place becomes the index of the value in the row. */
static int row_of(uint64_t value, unsigned int *place)
{
	int bits;

	if (value < EXACT) {
		*place = (unsigned int)value;
		return 0;
	}
	bits = 63 - __builtin_clzll(value);
	*place = (unsigned int)(value >> (bits - 6)) - HISTOGRAM_PARTS;
	return bits - EXACT_BITS + 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	unsigned int place;
	struct histogram_part **row = &histogram->part[row_of(value, &place)];

	if (!*row)
		*row = must(calloc(row == histogram->part ? EXACT : HISTOGRAM_PARTS,
				   sizeof(**row)));
	(*row)[place].n++;
	(*row)[place].sum += value;
	histogram->n++;
	if (value > histogram->largest)
		histogram->largest = value;
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned int percent)
{
	uint64_t rank = histogram->n / 100 * percent + (histogram->n % 100 * percent + 99) / 100;
	uint64_t seen = 0;

	for (int row = 0; row <= HISTOGRAM_OCTAVES; row++) {
		unsigned int size = row == 0 ? EXACT : HISTOGRAM_PARTS;

		for (unsigned int i = 0; histogram->part[row] && i < size; i++) {
			const struct histogram_part *part = &histogram->part[row][i];

			seen += part->n;
			if (part->n > 0 && seen >= rank)
				return part->sum / part->n;
		}
	}
	return 0;
}

void histogram_free(struct histogram *histogram)
{
	for (int row = 0; row <= HISTOGRAM_OCTAVES; row++)
		free(histogram->part[row]);
}
