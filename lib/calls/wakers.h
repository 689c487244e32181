/* SPDX-License-Identifier: MIT */
/*
 * Follow the waits of threads: find out which thread is suspended and which thread wakes it up, and
 * add the entries for this.  Each object holds its last releaser, and each thread holds its wait
 * (objects.h).  So this module needs no search.
 *
 * All memory is private.  The caller ensures that only one thread at a time uses a struct
 * px_wakers.
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
	uint64_t now; /* number of calls so far; used as the time of waits */
	uint64_t lost_at; /* time of the last gap */
};

/* Calls are missing from now on: other threads may have taken and released what a thread is known to have released. */
void px_wakers_lose(struct px_wakers *waits);

/*
 * If the thread is suspended, add a RESUME entry with an unknown waker.  Call this function when the thread has
 * recorded an event, because the event shows that the thread runs. thread may be NULL.
 */
void px_wakers_wake(struct px_call_object *thread, struct px_translation *to);

/*
 * Call px_wakers_wake() for the thread of this call, unless the call ends a wait.  Call this function before any entry
 * of the call is added.
 */
void px_wakers_start_call(struct px_wakers *waits, struct px_call_read *call);

/*
 * Add the entries for the end of a wait: RESUME by the waker, and RUNNING as the record's own
 * entry.
 */
void px_wakers_show_end(struct px_wakers *waits, struct px_call_read *call);

/*
 * Both functions are for the end of a thread. px_wakers_wake_joiner() adds RESUME of the thread that joins it.  Call
 * px_wakers_wake_joiner() before the own entry is added.  px_wakers_end_thread() makes the own entry the last entry of
 * the thread.
 */
void px_wakers_wake_joiner(struct px_wakers *waits, struct px_call_read *call);
void px_wakers_end_thread(struct px_call_read *call, struct px_entry *own);

/*
 * Apply the effects of a call on waits: it may acquire or release its object, enter or leave a signal handler, or start
 * to wait.  Call this function after the own entry of the call is added.
 */
void px_wakers_follow(struct px_wakers *waits, struct px_call_read *call);

#endif
