/* SPDX-License-Identifier: MIT */
/*
 * Find the calling thread and the object of a call (objects.h).  The context of the event leads to the thread.  The
 * address or descriptor in the call leads to the object.  Also apply the effects of calls on objects: calls create, end
 * and rename objects, duplicate descriptors, and make children that inherit descriptors.
 *
 * All memory is private.  The caller ensures that only one thread at a time uses a struct
 * px_resolve.
 */
#ifndef PX_CALLS_RESOLVE_H
#define PX_CALLS_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "calls/objects.h"
#include "event/threadmap.h"

/* Initialise with {threads, px_call_objects_make()}.  The caller frees the objects. */
struct px_resolve {
	const struct px_threadmap *threads; /* the threads to which the contexts of events refer */
	struct px_call_objects *objects;
	bool is_losing; /* events are being lost: a descriptor may be another one at each call */
	bool has_ending;
	/* px_resolve_forget() unbinds this key; until then, a log can find the object by it. */
	struct px_key ending;
};

/*
 * Unbind the key of the object that the previous record ended.  Call this function before each record, even if the
 * record is not a call.
 */
void px_resolve_forget(struct px_resolve *all);

/* The record says that events were lost, or that no more are lost. */
void px_resolve_lose(struct px_resolve *all, bool is_losing);

/*
 * Set the members self and object of the call.  If this is the first record of the thread, also set
 * `changed` of the translation.
 */
void px_resolve_find(struct px_resolve *all, struct px_call_read *call);

/*
 * Apply the effects of the call on names, children and its object.  Call this function after all entries of the call
 * are added.
 */
void px_resolve_follow(struct px_resolve *all, struct px_call_read *call);

/*
 * Return the handle of the thread with this tid.  Return PX_NO_THREAD if the thread is not traced,
 * or 0 if tid is 0.
 */
uint32_t px_resolve_with_tid(struct px_resolve *all, uint32_t pid, uint32_t tid);

/*
 * Restore a thread, or an object that was not destroyed, from a log.  The caller does this before
 * it continues the log.
 */
void px_resolve_restore(struct px_resolve *all, const struct px_object *object, uint64_t address,
			uint64_t site);

#endif
