/* SPDX-License-Identifier: MIT */
/* The handles of a trace buffer during a check: a table of bounded size. */
#ifndef TXTRACE_CHECK_HANDLES_H
#define TXTRACE_CHECK_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define HANDLES_MAX (1u << 18)

struct handle {
	uint32_t handle;
	bool is_registered, is_thread; /* set from the type of the handle's first object */
	bool is_context, is_referred;  /* an event has it as its context, or names it */
	uint32_t nr_changes;	       /* number of its SUSPEND and RESUME events */
	uint64_t offset;	       /* offset of its first object, or of its first event */
};

struct handles {
	struct handle *handle; /* in the order of their first appearance */
	size_t nr, room;
	struct map by_handle; /* index + 1 in that array */
	struct handle other;  /* all handles that do not fit share this one */
};

/* Find or add the entry of this handle. The result is valid until the next call. */
struct handle *handles_get(struct handles *handles, uint32_t handle);
void handles_free(struct handles *handles);

#endif
