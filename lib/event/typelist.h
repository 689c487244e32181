/* SPDX-License-Identifier: MIT */
/*
 * The ids and names of the event types of a stream, in the order in which threads added them.
 *
 * The list is in the stream's segment.  So a reader can name all recorded types even after the
 * traced processes and their shared name table are gone (EXEC-3).  Traced processes and the
 * controller only add to the list, without a lock:
 *
 *	0 -> {id, WRITING}		by compare-exchange; the entry belongs to this id forever
 *	{id, WRITING} -> {id, READY}	after a thread has written the name
 *
 * All threads that add an id write the same name, because they have the name from the same table.  So if a thread wants
 * to add an id and finds its entry in the state WRITING, the thread writes the name again.  It does not wait for the
 * other thread, which may have been killed.
 *
 * The functions are async-signal-safe.  A process of another user may write to the list, so its contents are hostile
 * input.
 */
#ifndef PX_EVENT_TYPELIST_H
#define PX_EVENT_TYPELIST_H

#include <stdbool.h>
#include <stdint.h>

#include "event/eventset.h"
#include "event/names.h"

#define PX_TYPELIST_MAX (PX_EVENT_IDS - PX_EVENT_USER_FIRST)

struct px_typelist_entry {
	uint32_t word; /* id << 2 | state; 0: this entry and all entries after it are free */
	char name[PX_NAME_MAX + 1];
};

struct px_typelist {
	/* The ids whose entries are READY; a look at this set replaces a search of the list. */
	struct px_eventset listed;
	struct px_typelist_entry entry[PX_TYPELIST_MAX];
};

/* Add a named user event type, unless it is in the list.  Return its index. */
uint32_t px_typelist_add(struct px_typelist *list, unsigned int id, const char *name);

/*
 * Get type i and its name.  If the type is not READY, set *id to PX_EVENT_NONE and leave name
 * unchanged.  Return false after the last type.
 */
bool px_typelist_get(const struct px_typelist *list, uint32_t i, unsigned int *id,
		     char name[PX_NAME_MAX + 1]);

/*
 * Get the name of a type.  The type may be a predefined one.  Return 0, or EINVAL if there is no such type.
 */
int px_typelist_name(const struct px_typelist *list, unsigned int id, char name[PX_NAME_MAX + 1]);

#endif
