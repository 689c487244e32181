/* SPDX-License-Identifier: MIT */
/* Counts for each actor and each number that it comes together with: an event type, or a CPU. */
#ifndef TXTRACE_REPORT_COUNTS_H
#define TXTRACE_REPORT_COUNTS_H

#include "report/contexts.h"

struct pair {
	struct actor *actor;
	unsigned int number;
	uint64_t count;
	int64_t time;
};

struct pairs {
	struct pair **pair; /* as they came, until they are sorted */
	size_t nr_pairs, room;
	struct pair **hash;
	size_t nr_hash;
};

void pairs_init(struct pairs *pairs);
void pairs_free(struct pairs *pairs);

/* Made, if there is none. */
struct pair *pairs_get(struct pairs *pairs, struct actor *actor, unsigned int number);

/* All counts of a number together: a list that the caller frees. */
struct pair *pairs_sum(const struct pairs *pairs, size_t *nr);

#endif
