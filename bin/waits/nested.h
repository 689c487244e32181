/* SPDX-License-Identifier: MIT */
/*
 * Waits in signal handlers.  A signal may interrupt a wait, and its handler may wait, too.  The model puts the
 * interrupted wait aside until the wait in the handler has ended.  A thread may also leave a handler, and the
 * interrupted call, by longjmp(): then the end of that call is missing.
 */
#ifndef TXTRACE_WAITS_NESTED_H
#define TXTRACE_WAITS_NESTED_H

#include "waits/waits.h"

/*
 * The limit of the waits of a thread: one, and one for each of the 64 signals, whose handlers may interrupt each other.
 * If more begin, handlers were left by longjmp(), and the ends of these waits are missing.
 */
#define NESTED_MAX 65

/* Put the wait of the thread aside, because another one begins.  Return it; it is the `outer` of the other one. */
struct wait *nested_put_aside(struct waiter *thread);

/* The wait of the thread is over.  The wait in which it began, if there is one, is the wait of the thread again. */
void nested_take_back(struct waiter *thread);

/*
 * Return the innermost wait of this call for this object, or for another one: an object may get its name when the call
 * ends.  Return NULL if the thread does not wait in this call.  object: NULL if it is not known.
 */
const struct wait *nested_of_call(const struct waiter *thread, const char *service, const struct awaited *object);

/*
 * Return the wait of the thread that cannot have been interrupted by one that begins now, or NULL.  A call that begins
 * at the same place for the same object is hardly a call of a signal handler: the program left the first one by
 * longjmp(), and repeats it.
 */
const struct wait *nested_without_end(const struct waiter *thread, const struct awaited *object,
				      const struct service *service);

/* If signal handlers are recorded, their ends show that the thread did not leave the interrupted wait. */
void nested_note_handler(struct waiter *thread, unsigned int native);

void nested_free(struct waiter *thread);

#endif
