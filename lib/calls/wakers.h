/* SPDX-License-Identifier: MIT */
/*
 * Follow the waits of threads: find out which thread is suspended and which thread wakes it up, and
 * add the entries for this.  Each object holds its last releaser, and each thread holds its wait
 * (objects.h), so no search is needed.
 *
 * All memory is private.  The caller ensures that only one thread at a time uses it.
 */
#ifndef PX_CALLS_WAKERS_H
#define PX_CALLS_WAKERS_H

#include <stdint.h>

#include "calls/call.h"
#include "calls/entries.h"
#include "calls/objects.h"

/* Initialise with {objects}. */
struct px_wakers {
	struct px_call_objects *objects;
	uint64_t now; /* number of calls so far: the time for all waits */
};

/*
 * Show that a suspended thread is resumed by an unknown waker, because the thread has recorded something.
 * thread may be NULL.
 */
void px_wakers_wake(struct px_call_object *thread, struct px_translation *to);

/*
 * Do the same for the thread of this call, unless the call ends the wait of the thread.  Call it before
 * anything else is shown.
 */
void px_wakers_start_call(struct px_wakers *waits, struct px_call_read *call);

/* Show the end of a wait: RESUME by the waker, and RUNNING as the record's own entry. */
void px_wakers_show_end(struct px_wakers *waits, struct px_call_read *call);

/*
 * Show the end of a thread.  The first function resumes the joining thread, before the own entry.  The second
 * makes the own entry the last one of the thread.
 */
void px_wakers_wake_joiner(struct px_wakers *waits, struct px_call_read *call);
void px_wakers_end_thread(struct px_call_read *call, struct px_entries *own);

/*
 * Apply the effects of a call on waits, after it was shown: it releases an object, leaves a handler, or
 * starts to wait.
 */
void px_wakers_follow(struct px_wakers *waits, struct px_call_read *call);

#endif
