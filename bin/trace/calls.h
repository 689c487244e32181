/* SPDX-License-Identifier: MIT */
/*
 * Convert the recorded calls of a program to the events that ThreadX would have recorded.
 *
 * A log has one event for a call that did not wait. For a call that waited, it has two events: one where the wait
 * begins, and one where the call returns. ThreadX records three events: the call, a SUSPEND and a RESUME. The context
 * of the RESUME is the thread that ends the wait. So this layer above the source adds the SUSPEND and the RESUME:
 *
 * 	the call begins to wait	the call, SUSPEND
 * 	the call returns	RESUME by the thread that ended the wait, or by no thread; after it the event of the
 * 				return
 * 	a process ends		the call, SUSPEND of each of its threads as ended (lives.h)
 */
#ifndef TXTRACE_TRACE_CALLS_H
#define TXTRACE_TRACE_CALLS_H

#include <stdbool.h>

#include "trace/source.h"

/* From now on, calls_next() adds these events to a log. A ThreadX trace buffer already has these events. */
void calls_expand(struct source *source);

/* Return the next event, as source_next() does.  After calls_expand(), return the added events too. */
bool calls_next(struct source *source, struct event *event);

/*
 * Return ThreadX's id of the call, or 0 if ThreadX has no such call.  Both events of a call that waited have this id.
 */
unsigned int call_service(const struct event *event);

/*
 * Return true if this event counts.  A call that waited counts once, at its first event.  An event that calls_next()
 * made is not in the file, so it does not count.
 */
bool call_counts(const struct event *event);

/*
 * An event of the type txtrace_calls stands for calls that were counted instead of recorded.  Return the row of these
 * calls, or NULL if the event is no such event.
 */
const struct call_row *call_counted(const struct event *event);

/* Return for how many calls this event counts: 0, 1, or the number of calls that were counted. */
uint64_t call_number(const struct event *event);

/* Return true if these counted calls took a mutex that the thread had already. */
bool call_is_nested(const struct event *event);

/* Return the event type of the call.  If calls were counted, it is the type that each of them would have had. */
trace_event_id_t call_type(const struct event *event);

/* Return the name of this type. */
const char *call_name(const struct event *event);

/* Return the context of the thread that made the calls. */
unsigned int call_context(struct source *source, const struct event *event);

/* Return the result of the call: 0 or an error number.  The result is 0 for the event where the wait begins. */
int call_result(const struct event *event);

/* Return a text for an error number, or the name of the C11 result with this number. */
const char *call_error_words(int error);

#endif
