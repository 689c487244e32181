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
	/* is_context: the handle is the context of an event; is_referred: a word of an event has the handle */
	bool is_context, is_referred;
	bool is_nobody;	       /* posixtrace registers it for events that belong to no thread */
	bool is_asleep;	       /* the last SUSPEND or RESUME of the thread was a SUSPEND */
	uint32_t nr_changes;   /* number of SUSPEND and RESUME events of the handle */
	uint32_t first_change; /* index of the first of these events */
	uint64_t offset;	       /* offset of the first object with the handle, or of the first event with it */
};

struct handles {
	struct handle *handle; /* the handles in the order in which the check found them */
	size_t nr, room;
	struct map by_handle; /* key: handle; value: 1 + index in handle[] */
	struct handle other;  /* if the array is full, all further handles share this entry */
};

/* Return the entry of this handle. If there is no entry, add it. The result is valid until the next call. */
struct handle *handles_get(struct handles *handles, uint32_t handle);
void handles_free(struct handles *handles);

#endif
