/* SPDX-License-Identifier: MIT */
/* Assign numbers to strings of bytes, so that an output contains each string only once. */
#ifndef TXTRACE_BASE_INTERN_H
#define TXTRACE_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define INTERN_RECENT 256

struct interned;

struct intern {
	struct map by_hash;	/* key: hash of a string; value: pointer to the string */
	struct interned **text; /* the index is the number of the string; numbers begin at 1 */
	size_t nr_texts, room;
	struct interned *last; /* the string of the last call of intern_number(), or NULL before the first call */
	uint32_t epoch;
	struct {
		const char *text;
		size_t size;
		struct interned *is;
	} recent[INTERN_RECENT];
};

/* A struct intern of zeros is empty. */
void intern_free(struct intern *intern);

/*
 * Return the number of a string, counted from 1.  The number never changes.  *is_new becomes true if this is the first
 * call with this string, or the first such call since intern_forget().
 */
uint64_t intern_number(struct intern *intern, const char *text, size_t size, bool *is_new);

/* Do the same as intern_number(), but faster.  The string must keep its address and contents until intern_free(). */
uint64_t intern_number_fixed(struct intern *intern, const char *text, size_t size, bool *is_new);

/* Return the string with this number, with a zero byte after it.  It is valid until intern_free(). */
const char *intern_text(const struct intern *intern, uint64_t number);

/* Make all strings new again: the next call with each string sets *is_new.  They keep their numbers. */
void intern_forget(struct intern *intern);

#endif
