/* SPDX-License-Identifier: MIT */
#include "trace/calltable.h"

#include <errno.h>
#include <string.h>

static const struct call_row rows[] = {
#define PX_CALL(name, group, layout, object, native, state, info1, info2, info3, info4, fields)    \
	{#name, #group, LAYOUT_##layout, native, fields},
#include "../lib/event/calls.def"
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

size_t calltable_field_bytes(enum call_layout layout, size_t word, char kind)
{
	static const unsigned char bytes[][4] = {
#define PX_CALL_LAYOUT(name, ...) [LAYOUT_##name] = {__VA_ARGS__},
#include "../lib/event/calls.def"
	};

	if (word < 4 && bytes[layout][word] > 0)
		return bytes[layout][word];
	switch (kind) {
#define PX_FIELD_KIND(kind, size, is_rest) \
	case kind:                         \
		return (is_rest) ? 0 : (size);
#include "../lib/event/calls.def"
	default:
		return 0;
	}
}

const struct call_row *calltable_find(const char *name)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const struct call_row *calltable_row(unsigned int number)
{
	return number < NR_ROWS ? &rows[number] : NULL;
}

bool calltable_is_group(const char *word, size_t length)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (strlen(rows[i].group) == length && strncmp(rows[i].group, word, length) == 0)
			return true;
	return false;
}

bool calltable_has_field(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < NR_ROWS; i++)
		for (const char *at = rows[i].fields; (at = strstr(at, name)); at += length)
			if (at[length] == ':' && (at == rows[i].fields || at[-1] == ' '))
				return true;
	return false;
}

void calltable_each_field(void (*field)(void *argument, const char *name, size_t length), void *argument)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		for (const char *at = rows[i].fields; *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, ": ");

			if (at[length] == ':')
				field(argument, at, length);
			at += strcspn(at, " ");
		}
}

const char *calltable_c11_result(int error)
{
	switch (error) {
#define PX_C11_RESULT(name, number)                                                                \
	case number:                                                                               \
		return #name;
#include "../lib/event/calls.def"
	default:
		return NULL;
	}
}
