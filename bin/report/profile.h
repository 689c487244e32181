/* SPDX-License-Identifier: MIT */
/*
 * Who runs when in a ThreadX buffer, by TraceX's rules for one CPU.
 *
 * Each event has a next context: who runs after it, until the next event.  It follows from the event and from those
 * behind it, usually from one.  Where an older ThreadX does not say whether a resumption led to a preemption, it follows
 * from who runs first; so many events are looked at for that, and TraceX looks at all.
 *
 * Where who runs next is neither whose event it was nor whose the next one is, an event is made between the two, as
 * TraceX does: Running, 12 ticks behind the first if there is room.
 */
#ifndef TXTRACE_REPORT_PROFILE_H
#define TXTRACE_REPORT_PROFILE_H

#include "report/events.h"

#define PROFILE_AHEAD 65536

struct profile;

/* wants_priorities: the steps that are made have one; that takes a pass over the file of its own. */
struct profile *profile_new(struct steps *steps, bool wants_priorities);
void profile_free(struct profile *profile);

/*
 * The next event of the file, or one that was made, with its next context.  The time until the one behind it was added
 * to the time of the actor who had it.  False behind the last.
 */
bool profile_next(struct profile *profile, struct step *step);

#endif
