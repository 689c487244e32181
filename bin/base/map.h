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
	int shift; /* 64 - log2(nr_places) */
};

/*
 * Return a pointer to the value of this key.  If the map does not have the key, add it with the value 0.  The pointer
 * is valid until the next map_get().
 */
uint64_t *map_get(struct map *map, uint64_t key);

/*
 * Only for this header and map.c: return the place of the key, or the free place for it.  The map must not be empty.
 * The function multiplies the key, because the top bits of the product depend on all bits of the key.
 */
static inline struct map_place *map_place(const struct map *map, uint64_t key)
{
	size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> map->shift);

	while (map->place[i].is_taken && map->place[i].key != key)
		i = (i + 1) & (map->nr_places - 1);
	return &map->place[i];
}

/* Return the value of this key, or 0 if the map does not have the key. */
static inline uint64_t map_find(const struct map *map, uint64_t key)
{
	/* A free place has the value 0. */
	return map->nr_places > 0 ? map_place(map, key)->value : 0;
}

void map_free(struct map *map);

/*
 * Return a key for bytes, or for a string.  The key has 64 bits: of a million strings, two have the same key once in
 * 37 million times.
 */
uint64_t map_hash_bytes(const void *bytes, size_t size);
uint64_t map_hash(const char *text);

#endif
