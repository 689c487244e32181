/* SPDX-License-Identifier: MIT */
/* Counts for each pair of a context and a number. The number is an event type or a CPU. */
#ifndef TXTRACE_REPORT_COUNTS_H
#define TXTRACE_REPORT_COUNTS_H

#include "base/map.h"
#include "report/contexts.h"

struct pair {
	struct context *ctx;
	unsigned int number;
	uint64_t count;
	int64_t time;
};

struct count_map {
	struct pair **pair; /* the pairs in the order of their creation, until they are sorted */
	size_t nr_pairs, room;
	struct map known; /* values are pointers to pairs; the pointers stay valid when `pair` is sorted */
};

/* Free all pairs.  A struct count_map of zeros is an empty map. */
void counts_free(struct count_map *counts);

/* Return the pair of this context and number.  If there is no such pair, make it. */
struct pair *counts_get(struct count_map *counts, struct context *ctx, unsigned int number);

/* For each number, add up the counts of all contexts.  The caller frees the list. */
struct pair *counts_sum(const struct count_map *counts, size_t *nr);

#endif
