/* SPDX-License-Identifier: MIT */
/* What is known of the handles of a trace buffer while it is checked: a table of bounded size. */
#ifndef TXTRACE_CHECK_HANDLES_H
#define TXTRACE_CHECK_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define HANDLES_MAX (1u << 18)

struct handle {
	uint32_t handle;
	bool is_registered, is_thread; /* by its first object */
	bool is_context, is_referred;  /* some event said so */
	uint32_t nr_changes;	       /* of its status */
	uint64_t offset;	       /* of its first object, or else its first event */
};

struct handles {
	struct handle *handle; /* in the order in which they came */
	size_t nr, room;
	struct map by_handle; /* their places there, from 1 on */
	struct handle other;  /* all that there is no room for */
};

/* The entry of this handle, made if it is new.  Valid until the next call. */
struct handle *handles_get(struct handles *handles, uint32_t handle);
void handles_free(struct handles *handles);

#endif
