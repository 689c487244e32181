/* SPDX-License-Identifier: MIT */
/*
 * The calls of a program that does not use posixtrace, as ThreadX would have recorded them.
 *
 * A log has one event for a call that did not wait, and two for a call that did: where it begins to wait, and where it
 * returns. ThreadX records the call, a SUSPEND, and a RESUME in the context of the thread that ends the wait. So this
 * layer above the source adds events for readers of waits:
 *
 *	the call begins to wait	the call, SUSPEND
 *	the call returns	RESUME by the thread that ended the wait, or by no thread; then the event, without a service
 */
#ifndef TXTRACE_TRACE_CALLS_H
#define TXTRACE_TRACE_CALLS_H

#include <stdbool.h>

#include "trace/source.h"

/* From now on, calls_next() adds the waits of a log. A ThreadX trace buffer has them already. */
void calls_expand(struct source *source);

/* source_next(), with the added events after calls_expand(). */
bool calls_next(struct source *source, struct event *event);

/* ThreadX's id of the call, also for the event where the call returns; 0: none. */
unsigned int call_service(const struct event *event);

/* The result of the call: 0 or an error number.  0 if the call only begins to wait. */
int call_result(const struct event *event);

/* A text for that error number, or the name of the C11 result that it means. */
const char *call_error_words(int error);

#endif
