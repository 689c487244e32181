/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct interned {
	struct interned *next; /* with the same hash */
	uint64_t number;
	uint64_t hash;
	uint32_t epoch; /* in which it was last asked for */
	size_t size;
	char text[];
};

static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = 14695981039346656037ull;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	return hash;
}

static void grow(struct intern *intern)
{
	struct interned **old = intern->hash;
	size_t nr_old = intern->nr_hash;

	intern->nr_hash = nr_old ? 2 * nr_old : 256;
	intern->hash = must(calloc(intern->nr_hash, sizeof(struct interned *)));
	for (size_t i = 0; i < nr_old; i++) {
		for (struct interned *at = old[i], *next; at; at = next) {
			size_t place = at->hash & (intern->nr_hash - 1);

			next = at->next;
			at->next = intern->hash[place];
			intern->hash[place] = at;
		}
	}
	free(old);
}

void intern_init(struct intern *intern)
{
	memset(intern, 0, sizeof(*intern));
	intern->epoch = 1;
	grow(intern);
}

void intern_free(struct intern *intern)
{
	for (size_t i = 0; i < intern->nr_hash; i++) {
		for (struct interned *at = intern->hash[i], *next; at; at = next) {
			next = at->next;
			free(at);
		}
	}
	free(intern->hash);
}

void intern_forget(struct intern *intern)
{
	intern->epoch++;
}

static struct interned *find(struct intern *intern, const char *text, size_t size)
{
	uint64_t hash = hash_of(text, size);
	struct interned *at = intern->hash[hash & (intern->nr_hash - 1)];

	while (at && (at->size != size || memcmp(at->text, text, size) != 0))
		at = at->next;
	if (at)
		return at;
	if (intern->nr_texts >= intern->nr_hash)
		grow(intern);
	at = must(malloc(sizeof(*at) + size));
	at->number = ++intern->nr_texts;
	at->hash = hash;
	at->epoch = 0;
	at->size = size;
	memcpy(at->text, text, size);
	at->next = intern->hash[hash & (intern->nr_hash - 1)];
	intern->hash[hash & (intern->nr_hash - 1)] = at;
	return at;
}

static uint64_t ask(const struct intern *intern, struct interned *text, bool *is_new)
{
	*is_new = text->epoch != intern->epoch;
	text->epoch = intern->epoch;
	return text->number;
}

uint64_t intern_number(struct intern *intern, const char *text, size_t size, bool *is_new)
{
	return ask(intern, find(intern, text, size), is_new);
}

uint64_t intern_number_fixed(struct intern *intern, const char *text, size_t size, bool *is_new)
{
	size_t place = ((uintptr_t)text >> 2 ^ (uintptr_t)text >> 10 ^ size) % INTERN_RECENT;

	if (intern->recent[place].text != text || intern->recent[place].size != size) {
		intern->recent[place].is = find(intern, text, size);
		intern->recent[place].text = text;
		intern->recent[place].size = size;
	}
	return ask(intern, intern->recent[place].is, is_new);
}
