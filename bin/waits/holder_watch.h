/* SPDX-License-Identifier: MIT */
/*
 * While a thread waits for an object, the model watches the holder of the object: for how long the holder itself waits,
 * and for what.  The watch begins with the wait, or when the holder becomes known during the wait.  It ends when the
 * holder gives the object back, or when the wait ends.  So the result is exact, and its memory does not grow with the
 * number of waits.
 */
#ifndef TXTRACE_WAITS_HOLDER_WATCH_H
#define TXTRACE_WAITS_HOLDER_WATCH_H

#include "waits/waits.h"

/* Watch this holder from now on.  The waiting thread must not watch another holder. */
void holder_watch_begin(struct wait *wait, struct waiter *holder, int64_t at_ns);

/* End the watch of a wait.  If there is no watch, do nothing. */
void holder_watch_end(struct wait *wait, int64_t at_ns);

/* A thread takes an object.  Waits for this object with an unknown holder watch this thread. */
void holder_watch_taken(const struct hold *hold, int64_t at_ns);

/* A thread gives an object back.  Stop watching this thread for the waits for this object. */
void holder_watch_given(const struct hold *hold, int64_t at_ns);

/* A wait of a holder has ended.  Call this before the model forgets the wait. */
void holder_watch_waited(const struct wait *wait);

/* The end of a wait of this holder is missing.  So it is unknown what the holder did. */
void holder_watch_doubt(const struct waiter *holder);

#endif
