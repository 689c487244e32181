/* SPDX-License-Identifier: MIT */
/*
 * Which service a thread called last, and for which object.  In a ThreadX buffer, the event of a service comes before
 * the event that its thread waits, and only the labels of its words say which word is an object.
 */
#ifndef TXTRACE_WAITS_SERVICES_H
#define TXTRACE_WAITS_SERVICES_H

#include <stdbool.h>

#include "waits/waits.h"

/* Find out which words of which events hold objects.  Call this before the other functions. */
void services_learn(void);

/* Return true if word 0 of this event of ThreadX is the handle of an object. */
bool services_have_object(unsigned int native);

/* The thread has called this service: store it in the thread. */
void services_set(struct waiter *thread, const struct event *event, unsigned int native);

/* Return the call that brought the thread into this state.  Its object is 0 if the thread waits for no object. */
struct service services_of_wait(const struct event *event, const struct waiter *thread, unsigned int state);

#endif
