/* SPDX-License-Identifier: MIT */
/*
 * The entries of an image that the translator makes from one record: the record's *own* entry, and
 * other entries that exist only in the image.  This file only adds entries; the callers decide on
 * their contents.
 *
 * ThreadX has one CPU, so a SUSPEND entry names the thread that runs next.  That thread is the context of the next
 * entry in the image.  So the log can set the last word of SUSPEND only when it has the next entry.  Until then SUSPEND
 * is the `open` entry.
 */
#ifndef PX_CALLS_ENTRIES_H
#define PX_CALLS_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/objects.h"
#include "ring/record.h"

#define PX_ENTRIES_MAX 4 /* maximum number of entries of one record */

/* An entry to write. */
struct px_entry {
	uint32_t context;
	uint32_t priority; /* the priority word of an entry */
	uint32_t id;	   /* event id, without the CPU */
	uint32_t info[4];
	uint32_t handles; /* bit i is 1 if word i is a handle */
};

struct px_translation {
	struct px_entry entries[PX_ENTRIES_MAX];
	uint32_t nr_entries;
	uint32_t own;	/* index of the record's own entry */
	/* 1 + index of the SUSPEND entry whose last word is not set yet; 0: there is none. */
	uint32_t open;
	bool is_native; /* true: the record's own entry is an event of ThreadX, not a user event */
	uint32_t
		changed; /* handle of an object that this record named or identified; 0: none */
};

/* Add an entry whose information words are 0. */
struct px_entry *px_entries_add(struct px_translation *to, uint32_t context, uint32_t priority,
				uint32_t id);

/*
 * Add an entry.  Its context is `thread`, or the idle thread in two cases: `thread` has not recorded an event yet, or
 * is suspended at this point of the trace.
 */
struct px_entry *px_entries_add_by(struct px_translation *to, const struct px_call_object *thread,
				   uint32_t id);

/* Add the own entry of the record, as a user event. */
void px_entries_add_plainly(const struct px_record *record, const void *data, size_t length,
			    struct px_translation *to);

/* Turn an existing entry into the user event of the record. */
void px_entries_fill_plainly(const struct px_record *record, const void *data, size_t length,
			     struct px_entry *entry);

#endif
