/* SPDX-License-Identifier: MIT */
/* A hash table from numbers to numbers.  Entries are never removed. */
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

/* The value of this key; 0 if the key is new, which adds it.  The pointer is valid until the next map_get(). */
uint64_t *map_get(struct map *map, uint64_t key);

/* The value of this key; 0 if the map does not have it. */
uint64_t map_find(const struct map *map, uint64_t key);

void map_free(struct map *map);

/* A key for a string.  With 64 bits, two strings do not share a key by chance. */
uint64_t map_hash(const char *text);

#endif
