/* SPDX-License-Identifier: MIT */
/*
 * What calls tell of waits: which thread sleeps, who wakes it, and the entries that say so.  Who let an object go last
 * is kept with the object, what a thread waits for with the thread (objects.h); so nothing has to be searched.
 *
 * Private memory.  One thread at a time; the caller sees to it.
 */
#ifndef PX_CALLS_WAKERS_H
#define PX_CALLS_WAKERS_H

#include <stdint.h>

#include "calls/call.h"
#include "calls/entries.h"
#include "calls/objects.h"

/* Begins as {things}. */
struct px_wakers {
	struct px_call_objects *objects;
	uint64_t now; /* counts calls: the time of all that is remembered of waits */
};

/* Something is heard of a thread, NULL for none: if it sleeps, it is shown to be woken, by nobody who is known. */
void px_wakers_wake(struct px_call_object *thread, struct px_translation *to);

/* The same of who makes this call, unless it is the end of what it waits for.  Ahead of all else that is shown. */
void px_wakers_hear_of(struct px_wakers *waits, struct px_call_read *call);

/* Show the end of a wait: who woke the thread, and RUNNING as the record's own. */
void px_wakers_show_end(struct px_wakers *waits, struct px_call_read *call);

/* A thread ends: who joins it is woken, ahead of the own entry; and that one is the last of the thread. */
void px_wakers_wake_joiner(struct px_wakers *waits, struct px_call_read *call);
void px_wakers_end_thread(struct px_call_read *call, struct px_entries *own);

/* What the call, once it is shown, does to waits: it lets an object go, leaves a handler, or begins to wait itself. */
void px_wakers_follow(struct px_wakers *waits, struct px_call_read *call);

#endif
