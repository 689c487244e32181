/* SPDX-License-Identifier: MIT */
/* Texts that get a number, so that each is written once. */
#ifndef TXTRACE_BASE_INTERN_H
#define TXTRACE_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_RECENT 256

struct interned;

struct intern {
	struct interned **hash;
	size_t nr_hash, nr_texts;
	uint32_t epoch;
	struct {
		const char *text;
		size_t size;
		struct interned *is;
	} recent[INTERN_RECENT];
};

void intern_init(struct intern *intern);
void intern_free(struct intern *intern);

/*
 * The number of a text, from 1 on; always the same one.  *is_new: it is asked for the first time, or the first time
 * since intern_forget().
 */
uint64_t intern_number(struct intern *intern, const char *text, size_t size, bool *is_new);

/* The same for a text that stays where it is until intern_free(): quicker. */
uint64_t intern_number_fixed(struct intern *intern, const char *text, size_t size, bool *is_new);

/* All are new again, with their old numbers. */
void intern_forget(struct intern *intern);

#endif
