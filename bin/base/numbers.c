/* SPDX-License-Identifier: MIT */
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* FNV-1a. */
static uint32_t hash_of(const unsigned char *key, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ key[i]) * 16777619u;
	return hash;
}

static void link_in(struct numbers *numbers, uint32_t i)
{
	struct number *number = &numbers->number[i];
	size_t place = hash_of(number->key, number->size) & (numbers->room - 1);

	number->next = numbers->hash[place];
	numbers->hash[place] = i + 1;
}

static void grow(struct numbers *numbers)
{
	numbers->room = numbers->room ? 2 * numbers->room : 256;
	numbers->number =
		must(reallocarray(numbers->number, numbers->room, sizeof(*numbers->number)));
	free(numbers->hash);
	numbers->hash = must(calloc(numbers->room, sizeof(*numbers->hash)));
	for (uint32_t i = 0; i < numbers->nr; i++)
		link_in(numbers, i);
}

static int is_key(const struct numbers *numbers, uint32_t i, const void *key, size_t size)
{
	const struct number *number = &numbers->number[i];

	return number->size == size && memcmp(number->key, key, size) == 0;
}

uint32_t numbers_get(struct numbers *numbers, const void *key, size_t size)
{
	uint32_t i;

	/* Mostly that of the call before. */
	if (numbers->nr > 0 && is_key(numbers, numbers->last, key, size))
		return numbers->last;
	if (numbers->nr == numbers->room)
		grow(numbers);
	for (i = numbers->hash[hash_of(key, size) & (numbers->room - 1)]; i > 0;
	     i = numbers->number[i - 1].next)
		if (is_key(numbers, i - 1, key, size))
			return numbers->last = i - 1;
	i = (uint32_t)numbers->nr++;
	numbers->number[i].size = size;
	numbers->number[i].key = must(malloc(size + 1));
	memcpy(numbers->number[i].key, key, size);
	numbers->number[i].key[size] = '\0'; /* so that a text can be read back */
	link_in(numbers, i);
	return numbers->last = i;
}

void numbers_free(struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->nr; i++)
		free(numbers->number[i].key);
	free(numbers->number);
	free(numbers->hash);
}
