/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

/* Return how many characters of one name have to be added, removed or replaced to get the other one. */
static unsigned int distance_of(const char *a, const char *b)
{
	unsigned int row[NEAREST_BYTES + 1];
	size_t length = strlen(b);

	for (unsigned int i = 0; i <= length; i++)
		row[i] = i;
	for (unsigned int i = 1; *a; a++, i++) {
		unsigned int before = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			unsigned int replaced = before + (*a != b[j - 1]);
			unsigned int other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);

			before = row[j];
			row[j] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

void nearest_add(struct nearest *nearest, const char *name)
{
	unsigned int distance, at = nearest->nr;

	if (strlen(name) >= NEAREST_BYTES || strlen(nearest->wanted) >= NEAREST_BYTES)
		return;
	distance = distance_of(nearest->wanted, name);
	if (3 * distance > strlen(nearest->wanted) + 2)
		return;
	for (unsigned int i = 0; i < nearest->nr; i++)
		if (strcmp(nearest->name[i].name, name) == 0)
			return;
	while (at > 0 && nearest->name[at - 1].distance > distance)
		at--;
	if (at == NEAREST_NAMES)
		return;
	nearest->nr += nearest->nr < NEAREST_NAMES;
	memmove(&nearest->name[at + 1], &nearest->name[at], (nearest->nr - at - 1) * sizeof(nearest->name[0]));
	snprintf(nearest->name[at].name, NEAREST_BYTES, "%s", name);
	nearest->name[at].distance = distance;
}

void nearest_words(const struct nearest *nearest, const char *prefix, char words[NEAREST_WORDS])
{
	size_t used = 0;

	*words = '\0';
	for (unsigned int i = 0; i < nearest->nr; i++)
		used += (size_t)snprintf(words + used, NEAREST_WORDS - used, "%s%s%s", i > 0 ? ", " : "; like it are ",
					 prefix, nearest->name[i].name);
}
