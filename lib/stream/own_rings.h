/* SPDX-License-Identifier: MIT */
/*
 * Whether each CPU can have a ring of its own in the streams of this process (cpuring.h).
 *
 * Restartable sequences are tested before they are used: the first stream of a process makes a trial (trial.h).  The
 * registry keeps the result until the machine restarts, so usually there is one trial for each user and each start of
 * the machine.  A trial without a result counts for this process only.  Then the rings are shared, except on x86-64:
 * there no kernel is known that does not restart sequences, and a machine that is too busy for the trial is not.
 */
#ifndef PX_STREAM_OWN_RINGS_H
#define PX_STREAM_OWN_RINGS_H

#include "base/clock.h"

/* Return 0 if CPUs can have rings, or the reason why not: enum txtrace_rings_obstacle.  Not async-signal-safe. */
int px_own_rings_obstacle(enum px_clock_source source);

#endif
