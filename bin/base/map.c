/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_PLACES 256 /* must be a power of two */

static void grow(struct map *map)
{
	struct map larger = {.nr_places = map->nr_places ? 2 * map->nr_places : FIRST_PLACES};

	larger.shift = 64 - __builtin_ctzll((unsigned long long)larger.nr_places);
	larger.place = must(calloc(larger.nr_places, sizeof(*larger.place)));
	for (size_t i = 0; i < map->nr_places; i++)
		if (map->place[i].is_taken)
			*map_place(&larger, map->place[i].key) = map->place[i];
	free(map->place);
	map->place = larger.place;
	map->nr_places = larger.nr_places;
	map->shift = larger.shift;
}

uint64_t *map_get(struct map *map, uint64_t key)
{
	struct map_place *place;

	if (2 * map->nr_taken >= map->nr_places)
		grow(map);
	place = map_place(map, key);
	if (!place->is_taken) {
		*place = (struct map_place){key, 0, true};
		map->nr_taken++;
	}
	return &place->value;
}

void map_free(struct map *map)
{
	free(map->place);
	memset(map, 0, sizeof(*map));
}

uint64_t map_hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = 14695981039346656037u;

	while (size-- > 0)
		hash = (hash ^ *at++) * 1099511628211u;
	return hash;
}

uint64_t map_hash(const char *text)
{
	return map_hash_bytes(text, strlen(text));
}
