/* SPDX-License-Identifier: MIT */
/*
 * This module finds out which thread runs when in a ThreadX buffer, by TraceX's rules for one CPU.
 *
 * Each event has a next context, which runs from this event until the next event. The event and later events determine
 * the next context. Usually one later event is enough. Older versions of ThreadX do not record whether a resumption led
 * to a preemption. In that case, the next context is the resumed thread or the interrupted thread: the thread with the
 * earlier next event. To find that event, the profile reads at most PROFILE_AHEAD events ahead. TraceX reads all
 * events.
 *
 * If the next context differs from the contexts of the event and of the next event, this module synthesizes an event
 * Running between the two events, as TraceX does. If the next event is late enough, the new event is 12 ticks after the
 * first event.
 */
#ifndef TXTRACE_REPORT_PROFILE_H
#define TXTRACE_REPORT_PROFILE_H

#include "report/events.h"

#define PROFILE_AHEAD 65536

struct profile;

/*
 * If wants_priorities is true, synthesized events have a priority. To find the priorities, profile_new() reads the file
 * one more time.
 */
struct profile *profile_new(struct report_events *events, bool wants_priorities);
void profile_free(struct profile *profile);

/*
 * Return the next event of the file, or a synthesized event, with its next context. Add the time until the following
 * event to the time of the next context. Return false after the last event.
 */
bool profile_next(struct profile *profile, struct report_event *event);

#endif
