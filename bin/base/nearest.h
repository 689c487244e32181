/* SPDX-License-Identifier: MIT */
/* The names that are most like a name that does not exist, for messages. */
#ifndef TXTRACE_BASE_NEAREST_H
#define TXTRACE_BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_NAMES 3
#define NEAREST_BYTES 64 /* only shorter names are proposed */

struct nearest {
	const char *wanted;
	unsigned int nr;
	struct {
		char name[NEAREST_BYTES];
		unsigned int distance;
	} name[NEAREST_NAMES];
};

/* Keep the name if it is among the most similar ones.  A struct nearest with the member `wanted` has no names. */
void nearest_add(struct nearest *nearest, const char *name);

/*
 * Write "; like it are a, b", with the prefix before each name, or an empty text if no name is like the wanted one.
 */
#define NEAREST_WORDS 512
void nearest_words(const struct nearest *nearest, const char *prefix, char words[NEAREST_WORDS]);

#endif
