/* SPDX-License-Identifier: MIT */
#include "report/counts.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_HASH 1024 /* a power of two */

/* Open addressing; never more than half full. */
static struct pair **find(const struct count_map *counts, const struct context *ctx,
			  unsigned int number)
{
	size_t place = (ctx->context * 2654435761u ^ number * 2246822519u) >> 5;

	for (;; place++) {
		struct pair **at = &counts->hash[place & (counts->nr_hash - 1)];

		if (!*at || ((*at)->ctx == ctx && (*at)->number == number))
			return at;
	}
}

static void grow(struct count_map *counts)
{
	free(counts->hash);
	counts->nr_hash *= 2;
	counts->hash = must(calloc(counts->nr_hash, sizeof(struct pair *)));
	for (size_t i = 0; i < counts->nr_pairs; i++)
		*find(counts, counts->pair[i]->ctx, counts->pair[i]->number) = counts->pair[i];
}

void counts_init(struct count_map *counts)
{
	*counts = (struct count_map){.nr_hash = FIRST_HASH, .room = FIRST_HASH};
	counts->hash = must(calloc(counts->nr_hash, sizeof(struct pair *)));
	counts->pair = must(calloc(counts->room, sizeof(struct pair *)));
}

void counts_free(struct count_map *counts)
{
	for (size_t i = 0; i < counts->nr_pairs; i++)
		free(counts->pair[i]);
	free(counts->pair);
	free(counts->hash);
}

static struct pair *make(struct count_map *counts, struct context *ctx, unsigned int number)
{
	struct pair *pair = must(calloc(1, sizeof(*pair)));

	pair->ctx = ctx;
	pair->number = number;
	if (counts->nr_pairs == counts->room) {
		counts->room *= 2;
		counts->pair =
			must(reallocarray(counts->pair, counts->room, sizeof(struct pair *)));
	}
	counts->pair[counts->nr_pairs++] = pair;
	return pair;
}

struct pair *counts_get(struct count_map *counts, struct context *ctx, unsigned int number)
{
	struct pair **at = find(counts, ctx, number);
	struct pair *pair = *at;

	if (!pair) {
		pair = *at = make(counts, ctx, number);
		if (2 * counts->nr_pairs > counts->nr_hash)
			grow(counts);
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
			sum[n - 1].time += sum[i].time;
		} else {
			sum[n++] = sum[i];
		}
	}
	*nr = n;
	return sum;
}
