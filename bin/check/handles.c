/* SPDX-License-Identifier: MIT */
#include "check/handles.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct handle *add(struct handles *handles)
{
	if (handles->nr == handles->room) {
		handles->room = handles->room ? 2 * handles->room : 128;
		handles->handle = must(
			reallocarray(handles->handle, handles->room, sizeof(*handles->handle)));
	}
	return &handles->handle[handles->nr++];
}

struct handle *handles_get(struct handles *handles, uint32_t handle)
{
	uint64_t place = map_find(&handles->by_handle, handle);
	struct handle *added;

	if (place > 0)
		return &handles->handle[place - 1];
	if (handles->nr == HANDLES_MAX) {
		handles->other = (struct handle){.handle = handle};
		return &handles->other;
	}
	added = add(handles);
	*added = (struct handle){.handle = handle};
	*map_get(&handles->by_handle, handle) = handles->nr;
	return added;
}

void handles_free(struct handles *handles)
{
	free(handles->handle);
	map_free(&handles->by_handle);
	memset(handles, 0, sizeof(*handles));
}
