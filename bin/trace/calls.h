/* SPDX-License-Identifier: MIT */
/*
 * The calls of a program that was recorded without knowing of it, as ThreadX would have recorded them.
 *
 * A log has one event for a call that did not wait, and two for one that did: where it began to wait, and where it was
 * over.  ThreadX has the call, a SUSPEND, and a RESUME in the context of whoever ended the wait.  So for readers that
 * look at waits, events are put in:
 *
 *	it begins to wait	the call, SUSPEND
 *	it is over		RESUME of whoever ended it, or of no thread; then the event, as one of no service
 */
#ifndef TXTRACE_TRACE_CALLS_H
#define TXTRACE_TRACE_CALLS_H

#include <stdbool.h>

#include "trace/source.h"

#define CALLS_MADE 2 /* events that one of the log becomes, at most */

/* What the call of an event is in a log; false: it is none. */
bool call_of(const struct source *source, const struct posix_trace_event_info *info,
	     struct event *event);

/* ThreadX's id of the call itself, also where it ends; 0: it has none. */
unsigned int call_service(const struct event *event);

/* How the call ended: 0 or an error number.  Nothing, of one that only begins to wait. */
int call_result(const struct event *event);

/* That error number in words, or the result of C11 that it stands for alone. */
const char *call_error_words(int error);

/* The events that this one becomes, itself among them, where they stand; how many. */
int calls_expand(const struct event *event, struct event made[CALLS_MADE]);

/* What an event is called that was put in. */
const char *calls_made_name(trace_event_id_t type);

#endif
