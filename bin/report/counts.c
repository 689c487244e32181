/* SPDX-License-Identifier: MIT */
#include "report/counts.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_HASH 1024 /* a power of two */

/* Open addressing; never more than half full. */
static struct pair **find(const struct pairs *pairs, const struct actor *actor, unsigned int number)
{
	size_t place = (actor->context * 2654435761u ^ number * 2246822519u) >> 5;

	for (;; place++) {
		struct pair **at = &pairs->hash[place & (pairs->nr_hash - 1)];

		if (!*at || ((*at)->actor == actor && (*at)->number == number))
			return at;
	}
}

static void grow(struct pairs *pairs)
{
	free(pairs->hash);
	pairs->nr_hash *= 2;
	pairs->hash = must(calloc(pairs->nr_hash, sizeof(struct pair *)));
	for (size_t i = 0; i < pairs->nr_pairs; i++)
		*find(pairs, pairs->pair[i]->actor, pairs->pair[i]->number) = pairs->pair[i];
}

void pairs_init(struct pairs *pairs)
{
	*pairs = (struct pairs){.nr_hash = FIRST_HASH, .room = FIRST_HASH};
	pairs->hash = must(calloc(pairs->nr_hash, sizeof(struct pair *)));
	pairs->pair = must(calloc(pairs->room, sizeof(struct pair *)));
}

void pairs_free(struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->nr_pairs; i++)
		free(pairs->pair[i]);
	free(pairs->pair);
	free(pairs->hash);
}

static struct pair *make(struct pairs *pairs, struct actor *actor, unsigned int number)
{
	struct pair *pair = must(calloc(1, sizeof(*pair)));

	pair->actor = actor;
	pair->number = number;
	if (pairs->nr_pairs == pairs->room) {
		pairs->room *= 2;
		pairs->pair = must(reallocarray(pairs->pair, pairs->room, sizeof(struct pair *)));
	}
	pairs->pair[pairs->nr_pairs++] = pair;
	return pair;
}

struct pair *pairs_get(struct pairs *pairs, struct actor *actor, unsigned int number)
{
	struct pair **at = find(pairs, actor, number);
	struct pair *pair = *at;

	if (!pair) {
		pair = *at = make(pairs, actor, number);
		if (2 * pairs->nr_pairs > pairs->nr_hash)
			grow(pairs);
	}
	return pair;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

struct pair *pairs_sum(const struct pairs *pairs, size_t *nr)
{
	struct pair *sum = must(calloc(pairs->nr_pairs + 1, sizeof(*sum)));
	size_t n = 0;

	for (size_t i = 0; i < pairs->nr_pairs; i++)
		sum[i] = *pairs->pair[i];
	qsort(sum, pairs->nr_pairs, sizeof(*sum), compare_numbers);
	for (size_t i = 0; i < pairs->nr_pairs; i++) {
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
