/* SPDX-License-Identifier: MIT */
/*
 * The event types of a stream, in the order in which they were opened: ids and names.
 *
 * It stands in the stream's segment, so that names can be told for whatever was recorded, also when
 * the processes that recorded it, and the table of their family with them, are gone (EXEC-3).  It is
 * only added to, by any process that is traced and by the controller, without a lock:
 *
 *	0 -> {id, WRITING}		by compare-exchange: the place is that id's for ever
 *	{id, WRITING} -> {id, READY}	when the name is written
 *
 * All who add an id write the same name, since they have it from the same table.  So whoever finds
 * its id WRITING writes the name once more, and nobody waits for one that was killed there.
 *
 * Async-signal-safe.  Hostile input for another user's process.
 */
#ifndef PX_EVENT_TYPELIST_H
#define PX_EVENT_TYPELIST_H

#include <stdbool.h>
#include <stdint.h>

#include "event/eventset.h"
#include "event/names.h"

#define PX_TYPELIST_MAX (PX_EVENT_IDS - PX_EVENT_USER_FIRST)

struct px_typelist_entry {
	uint32_t word; /* id << 2 | state; 0: free, like all behind it */
	char name[PX_NAME_MAX + 1];
};

struct px_typelist {
	struct px_eventset listed; /* READY ids, but for what a kill left out; saves the search */
	struct px_typelist_entry entry[PX_TYPELIST_MAX];
};

/* Add a named user event type, if it is not there.  Returns its number in the list. */
uint32_t px_typelist_add(struct px_typelist *list, unsigned int id, const char *name);

/*
 * Type number i and its name.  *id is PX_EVENT_NONE if it is not ready.  False behind the last one.
 */
bool px_typelist_get(const struct px_typelist *list, uint32_t i, unsigned int *id,
		     char name[PX_NAME_MAX + 1]);

/* The name of a type, which may be a predefined one.  0, or EINVAL: it is not there. */
int px_typelist_name(const struct px_typelist *list, unsigned int id, char name[PX_NAME_MAX + 1]);

#endif
