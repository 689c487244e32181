/* SPDX-License-Identifier: MIT */
#include "report/counts.h"

#include <string.h>

#include "base/memory.h"
#include "base/units.h"

#define FIRST_ROOM 1024

void counts_free(struct count_map *counts)
{
	for (size_t i = 0; i < counts->nr_pairs; i++)
		free(counts->pair[i]);
	free(counts->pair);
	map_free(&counts->known);
}

static struct pair *make(struct count_map *counts, struct context *ctx, unsigned int number)
{
	struct pair *pair = must(calloc(1, sizeof(*pair)));

	pair->ctx = ctx;
	pair->number = number;
	if (counts->nr_pairs == counts->room) {
		counts->room = counts->room ? 2 * counts->room : FIRST_ROOM;
		counts->pair =
			must(reallocarray(counts->pair, counts->room, sizeof(struct pair *)));
	}
	counts->pair[counts->nr_pairs++] = pair;
	return pair;
}

struct pair *counts_get(struct count_map *counts, struct context *ctx, unsigned int number)
{
	uint64_t key = (uint64_t)ctx->context << 32 | number;
	struct pair *pair = (struct pair *)(uintptr_t)map_find(&counts->known, key);

	if (!pair) {
		pair = make(counts, ctx, number);
		*map_get(&counts->known, key) = (uintptr_t)pair;
	}
	return pair;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

struct pair *counts_sum(const struct count_map *counts, size_t *nr)
{
	struct pair *sum = must(calloc(counts->nr_pairs + 1, sizeof(*sum)));
	size_t n = 0;

	for (size_t i = 0; i < counts->nr_pairs; i++)
		sum[i] = *counts->pair[i];
	qsort(sum, counts->nr_pairs, sizeof(*sum), compare_numbers);
	for (size_t i = 0; i < counts->nr_pairs; i++) {
		if (n > 0 && sum[n - 1].number == sum[i].number) {
			sum[n - 1].count += sum[i].count;
			units_add(&sum[n - 1].time, sum[i].time);
		} else {
			sum[n++] = sum[i];
		}
	}
	*nr = n;
	return sum;
}
