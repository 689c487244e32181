/* SPDX-License-Identifier: MIT */
/* Numbers for keys, counted from 0 in the order in which the keys are added. */
#ifndef TXTRACE_BASE_NUMBERS_H
#define TXTRACE_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct number {
	size_t size;
	uint32_t next; /* with the same hash: its number + 1; 0: none */
	unsigned char *key;
};

struct numbers {
	struct number *number;
	size_t nr, room;
	uint32_t *hash; /* numbers + 1; room entries */
	uint32_t last;
};

/* A zeroed struct is empty. */
void numbers_free(struct numbers *numbers);

/* The number of the key with these bytes; a new key is added. */
uint32_t numbers_get(struct numbers *numbers, const void *key, size_t size);

#endif
