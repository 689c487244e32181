/* SPDX-License-Identifier: MIT */
/*
 * Find the calling thread and the object of a call: the object (objects.h) that a context, an address
 * or a descriptor refers to now.  Also follow the effects of calls: objects begin and end, are
 * duplicated, inherited by a child, and renamed.
 *
 * All memory is private.  The caller ensures that only one thread at a time uses it.
 */
#ifndef PX_CALLS_RESOLVE_H
#define PX_CALLS_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/call.h"
#include "calls/objects.h"
#include "event/threads.h"

/* Initialise with {threads, px_call_objects_make()}.  The caller frees the objects. */
struct px_resolve {
	const struct px_threads *threads; /* the threads of the contexts */
	struct px_call_objects *objects;
	bool has_ending;
	struct px_key ending; /* unbound at the next record, because a log may still look up the object */
};

/*
 * Unbind what ended with the previous record.  Call it before each record, also if it is not of a
 * call.
 */
void px_resolve_forget(struct px_resolve *all);

/* Set self and object of the call, and `changed` of its translation if the thread is known only now. */
void px_resolve_find(struct px_resolve *all, struct px_call_read *call);

/* Apply the effects of the call on names, children and its object, after the call was shown. */
void px_resolve_follow(struct px_resolve *all, struct px_call_read *call);

/* Return the handle of a thread, PX_NO_THREAD for a thread that is not traced, or 0 if tid is 0. */
uint32_t px_resolve_with_tid(struct px_resolve *all, uint32_t pid, uint32_t tid);

/*
 * Restore an object that is not destroyed, or a thread, from a log, in order to continue the log.
 */
void px_resolve_restore(struct px_resolve *all, const struct px_object *object, uint64_t address,
			uint64_t site);

#endif
