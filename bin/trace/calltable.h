/* SPDX-License-Identifier: MIT */
/* The calls that the preloaded object records, as a table from calls.def.  A call has the name of its event type. */
#ifndef TXTRACE_TRACE_CALLTABLE_H
#define TXTRACE_TRACE_CALLTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* The layout of the first LAYOUT_BYTES of the data of a call; lib/event/calls.def describes it. */
enum call_layout { LAYOUT_OBJECT, LAYOUT_FD, LAYOUT_WORDS };

#define LAYOUT_BYTES 16 /* each call has at least this number of bytes of data */

struct call_row {
	const char *name, *group;
	enum call_layout layout;
	unsigned int native; /* ThreadX's id of the call, or 0 if ThreadX has no such call */
	const char *fields;
};

/*
 * Return the size of a field: of word number `word` of a call with this layout.  0: it goes to the end of the data.  A
 * field that the call does not use has the kind '-'.
 */
size_t calltable_field_bytes(enum call_layout layout, size_t word, char kind);

/* Return the call with this name, or NULL. */
const struct call_row *calltable_find(const char *name);

#define CALLTABLE_COUNTED "txtrace_calls" /* the event type of calls that were counted */

/* Return the call with this number (enum px_call in lib/event/calls.h), or NULL. */
const struct call_row *calltable_row(unsigned int number);

/* Return true if the word, of this length, is a group of calls. */
bool calltable_is_group(const char *word, size_t length);

/* Return true if any call has a field with this name. */
bool calltable_has_field(const char *name);

/* Call field() for each field of each call; fields of several calls come several times.  The name has no null byte. */
void calltable_each_field(void (*field)(void *argument, const char *name, size_t length), void *argument);

/* Return the name of the C11 result with this number, or NULL. */
const char *calltable_c11_result(int error);

#endif
