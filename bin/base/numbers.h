/* SPDX-License-Identifier: MIT */
/* Keys that get numbers, from 0 on in the order in which they come, so that each is written once. */
#ifndef TXTRACE_BASE_NUMBERS_H
#define TXTRACE_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct number {
	size_t size;
	uint32_t next; /* with the same hash: its number + 1, or 0 */
	unsigned char *key;
};

struct numbers {
	struct number *number;
	size_t nr, room;
	uint32_t *hash; /* numbers + 1; as many as room */
	uint32_t last;
};

/* All zero is empty. */
void numbers_free(struct numbers *numbers);

/* The number of the key that has these bytes; the same bytes have the same one. */
uint32_t numbers_get(struct numbers *numbers, const void *key, size_t size);

#endif
