/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct map_place *find(const struct map *map, uint64_t key)
{
	size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> 20) & (map->nr_places - 1);

	while (map->place[i].is_taken && map->place[i].key != key)
		i = (i + 1) & (map->nr_places - 1);
	return &map->place[i];
}

static void grow(struct map *map)
{
	struct map larger = {.nr_places = map->nr_places ? 2 * map->nr_places : 256};

	larger.place = must(calloc(larger.nr_places, sizeof(*larger.place)));
	for (size_t i = 0; i < map->nr_places; i++)
		if (map->place[i].is_taken)
			*find(&larger, map->place[i].key) = map->place[i];
	free(map->place);
	map->place = larger.place;
	map->nr_places = larger.nr_places;
}

uint64_t *map_get(struct map *map, uint64_t key)
{
	struct map_place *place;

	if (2 * map->nr_taken >= map->nr_places)
		grow(map);
	place = find(map, key);
	if (!place->is_taken) {
		*place = (struct map_place){key, 0, true};
		map->nr_taken++;
	}
	return &place->value;
}

uint64_t map_find(const struct map *map, uint64_t key)
{
	const struct map_place *place = map->nr_places > 0 ? find(map, key) : NULL;

	return place && place->is_taken ? place->value : 0;
}

void map_free(struct map *map)
{
	free(map->place);
	memset(map, 0, sizeof(*map));
}

uint64_t map_hash(const char *text)
{
	uint64_t hash = 14695981039346656037u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}
