/* SPDX-License-Identifier: MIT */
/*
 * Whose call it is, and what it is about: which thing (objects.h) a context, an address or a descriptor is just now, and
 * what calls make of that: things begin and end, are duplicated, inherited by a child, and renamed.
 *
 * Private memory.  One thread at a time; the caller sees to it.
 */
#ifndef PX_CALLTHINGS_H
#define PX_CALLTHINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "calls/objects.h"
#include "event/threads.h"

/* Begins as {threads, px_things_make()}; who has made the things frees them. */
struct px_callthings {
	const struct px_objects *threads; /* who contexts are */
	struct px_things *things;
	bool has_ending;
	struct px_key ending; /* let go with the next record: a log may still look the object up */
};

/* Let go what ended with the record before: ahead of each one, be it of a call or not. */
void px_callthings_forget(struct px_callthings *all);

/* Sets self and object of the call, and `changed` of its translation where the thread is known only now. */
void px_callthings_find(struct px_callthings *all, struct px_call_read *call);

/* What the call does to names, children and the life of its object, once it has been shown. */
void px_callthings_follow(struct px_callthings *all, struct px_call_read *call);

/* The handle of a thread.  0: nobody; and somebody who is not traced is not nobody. */
uint32_t px_callthings_with_tid(struct px_callthings *all, uint32_t pid, uint32_t tid);

/* What a log knows of an object that is not destroyed, or of a thread: for who goes on with it. */
void px_callthings_restore(struct px_callthings *all, const struct px_object *object,
			   uint64_t address, uint64_t site);

#endif
