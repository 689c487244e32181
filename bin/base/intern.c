/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_ROOM 256

struct interned {
	struct interned *next; /* the next string with the same hash, or NULL */
	uint64_t number;
	uint32_t epoch; /* the value of intern->epoch at the last call with this string */
	size_t size;
	char text[]; /* the string and a zero byte */
};

static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = 14695981039346656037ull;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	return hash;
}

void intern_free(struct intern *intern)
{
	for (size_t i = 0; i < intern->nr_texts; i++)
		free(intern->text[i]);
	free(intern->text);
	map_free(&intern->by_hash);
}

void intern_forget(struct intern *intern)
{
	intern->epoch++;
}

static bool is_text(const struct interned *at, const char *text, size_t size)
{
	return at->size == size && memcmp(at->text, text, size) == 0;
}

static struct interned *add(struct intern *intern, const char *text, size_t size)
{
	struct interned *at = must(malloc(sizeof(*at) + size + 1));

	if (intern->nr_texts == intern->room) {
		intern->room = intern->room ? 2 * intern->room : FIRST_ROOM;
		intern->text =
			must(reallocarray(intern->text, intern->room, sizeof(*intern->text)));
	}
	intern->text[intern->nr_texts++] = at;
	at->number = intern->nr_texts;
	at->epoch = intern->epoch - 1; /* an older epoch makes the string new */
	at->size = size;
	memcpy(at->text, text, size);
	at->text[size] = '\0';
	return at;
}

static struct interned *find(struct intern *intern, const char *text, size_t size)
{
	uint64_t *first = map_get(&intern->by_hash, hash_of(text, size));
	struct interned *at = (struct interned *)(uintptr_t)*first;

	while (at && !is_text(at, text, size))
		at = at->next;
	if (!at) {
		at = add(intern, text, size);
		at->next = (struct interned *)(uintptr_t)*first;
		*first = (uintptr_t)at;
	}
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
	/* The string is often the same as in the previous call. */
	if (!intern->last || !is_text(intern->last, text, size))
		intern->last = find(intern, text, size);
	return ask(intern, intern->last, is_new);
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

const char *intern_text(const struct intern *intern, uint64_t number)
{
	return intern->text[number - 1]->text;
}
