/* SPDX-License-Identifier: MIT */
/* The calls that the object to preload records: calls.def as a table, found by the names of the event types. */
#ifndef TXTRACE_TRACE_CALLTABLE_H
#define TXTRACE_TRACE_CALLTABLE_H

#include <stdbool.h>

/* How the data of a call begin; lib/event/calls.def describes it. */
enum call_layout { LAYOUT_OBJECT, LAYOUT_FD, LAYOUT_WORDS };

#define LAYOUT_BYTES 16 /* of data that each call has */

struct call_row {
	const char *name;
	enum call_layout layout;
	unsigned int native; /* ThreadX's id of the call; 0: it has none */
	const char *fields;
};

/* NULL: no call has this name. */
const struct call_row *calltable_find(const char *name);

/* True if some call has a field with this name. */
bool calltable_has_field(const char *name);

/* The result of C11 that an error number means; NULL: it means none. */
const char *calltable_c11_result(int error);

#endif
