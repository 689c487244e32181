/* SPDX-License-Identifier: MIT */
/* A table of numbers by numbers that only grows. */
#ifndef TXTRACE_BASE_MAP_H
#define TXTRACE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_place {
		uint64_t key, value;
		bool is_taken;
	} * place;
	size_t nr_places, nr_taken;
};

/* The value of this key; one that is new has 0.  Valid until the next call. */
uint64_t *map_get(struct map *map, uint64_t key);

/* The value of this key; 0: it has none. */
uint64_t map_find(const struct map *map, uint64_t key);

void map_free(struct map *map);

/* For keys that are texts: 64 bits are enough not to meet by chance. */
uint64_t map_hash(const char *text);

#endif
