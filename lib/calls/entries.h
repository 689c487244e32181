/* SPDX-License-Identifier: MIT */
/*
 * The entries that a record becomes in an image: its *own*, and some that are there for the image alone.  Who adds them
 * decides what they say; here is only how one is begun.
 *
 * ThreadX has one CPU, so SUSPEND tells who runs next: that is the context of the next entry, which is known when that
 * one is laid out (`open`).
 */
#ifndef PX_CALLS_ENTRIES_H
#define PX_CALLS_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/objects.h"
#include "ring/record.h"

#define PX_ENTRIES_MAX 4 /* entries of one record */

/* An entry as it is to be. */
struct px_entries {
	uint32_t context;
	uint32_t priority; /* word */
	uint32_t id;	   /* without the CPU */
	uint32_t info[4];
	uint32_t handles; /* bit i: word i is one */
};

struct px_translation {
	struct px_entries shown[PX_ENTRIES_MAX];
	uint32_t nr_shown;
	uint32_t own;	/* the record's own */
	uint32_t open;	/* 1 + the one whose last word is the context of who comes next; 0: none */
	bool is_native; /* its own is not shown as a user event */
	uint32_t
		changed; /* the handle of an object that has another name, or is known now; 0: none */
};

/* One more entry; its words are 0. */
struct px_entries *px_entries_add(struct px_translation *to, uint32_t context, uint32_t priority,
				  uint32_t id);

/* The same in the context of this thread, if it can have done something just now; else in that of who is idle. */
struct px_entries *px_entries_add_by(struct px_translation *to, const struct px_call_object *thread,
				     uint32_t id);

/* The record's own, as a user event. */
void px_entries_add_plainly(const struct px_record *record, const void *data, size_t length,
			    struct px_translation *to);

/* Make an entry that is there the record's as a user event. */
void px_entries_fill_plainly(const struct px_record *record, const void *data, size_t length,
			     struct px_entries *shown);

#endif
