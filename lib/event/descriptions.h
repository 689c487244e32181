/* SPDX-License-Identifier: MIT */
/*
 * The descriptions of event types: which fields their data have, as texts (fields/fields.h).
 *
 * There is such a table beside the names in the shared name table, so that a description lives as long as the name of
 * its type, and one in each stream, so that a reader and a recovery find it there without the traced processes.  A type
 * has one description: the first one stays.
 *
 * Threads only add to a table, without a lock.  A thread takes room for the text, copies it there, and then enters it
 * for its type by a compare-exchange from 0.  If the thread is killed before that, only the room is lost.
 *
 * The functions are async-signal-safe.  A process of another user may write to the table, so its contents are hostile
 * input.
 */
#ifndef PX_EVENT_DESCRIPTIONS_H
#define PX_EVENT_DESCRIPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "event/eventset.h"
#include "fields/fields.h"

#define PX_DESCRIPTIONS_BYTES 32768 /* of all texts together */

/* Memory filled with zeros is an empty table. */
struct px_descriptions {
	uint32_t used; /* bytes of text[] that are taken; more than there are if it is full */
	uint32_t nr;   /* entries that were made */
	uint32_t at[PX_EVENT_IDS]; /* index: id; value: offset << 12 | length; 0: no description */
	char text[PX_DESCRIPTIONS_BYTES];
};

_Static_assert(PX_FIELDS_TEXT_MAX < 1 << 12, "the length has 12 bits");

/*
 * Add the description of a type.  Return 0, also if the type has this description already, EEXIST if it has another
 * one, ENOSPC if there is no room, or EINVAL if there is no such type, or the length is 0 or too large.
 */
int px_descriptions_add(struct px_descriptions *descriptions, unsigned int id, const char *text,
			size_t length);

/* Return the text of a type within the table, and its length, or NULL if the type has no description. */
const char *px_descriptions_text(const struct px_descriptions *descriptions, unsigned int id, size_t *length);

/* This table is a copy that was made while threads added to it: make its counts agree with its entries. */
void px_descriptions_settle_copy(struct px_descriptions *descriptions);

/* Copy the description of a type, without a null byte.  Return its length; 0: the type has none. */
size_t px_descriptions_get(const struct px_descriptions *descriptions, unsigned int id,
			   char text[PX_FIELDS_TEXT_MAX]);

#endif
