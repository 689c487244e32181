/* SPDX-License-Identifier: MIT */
/*
 * Whose call it is, and what it is about: which thing (objects.h) a context, an address or a descriptor is just now, and
 * what calls make of that: things begin and end, are duplicated, inherited by a child, and renamed.
 *
 * Private memory.  One thread at a time; the caller sees to it.
 */
#ifndef PX_CALLS_RESOLVE_H
#define PX_CALLS_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "calls/objects.h"
#include "event/threads.h"

/* Begins as {threads, px_call_objects_make()}; who has made the things frees them. */
struct px_resolve {
	const struct px_threads *threads; /* who contexts are */
	struct px_call_objects *objects;
	bool has_ending;
	struct px_key ending; /* let go with the next record: a log may still look the object up */
};

/* Let go what ended with the record before: ahead of each one, be it of a call or not. */
void px_resolve_forget(struct px_resolve *all);

/* Sets self and object of the call, and `changed` of its translation where the thread is known only now. */
void px_resolve_find(struct px_resolve *all, struct px_call_read *call);

/* What the call does to names, children and the life of its object, once it has been shown. */
void px_resolve_follow(struct px_resolve *all, struct px_call_read *call);

/* The handle of a thread.  0: nobody; and somebody who is not traced is not nobody. */
uint32_t px_resolve_with_tid(struct px_resolve *all, uint32_t pid, uint32_t tid);

/* What a log knows of an object that is not destroyed, or of a thread: for who goes on with it. */
void px_resolve_restore(struct px_resolve *all, const struct px_object *object, uint64_t address,
			uint64_t site);

#endif
