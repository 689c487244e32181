/* SPDX-License-Identifier: MIT */
/* The threads and objects of the model.  Each thread or object is created when an event first names it. */
#ifndef TXTRACE_WAITS_WAIT_OBJECTS_H
#define TXTRACE_WAITS_WAIT_OBJECTS_H

#include "waits/waits.h"

/* Find names that belong to several objects.  Call it before the other functions. */
void wait_objects_count_names(struct waits *waits);

/* Return the thread with the context of an event. */
struct waiter *wait_objects_thread(struct waits *waits, unsigned int context);

/* Return the object with this handle.  service is the name of a call that uses the object. */
struct awaited *wait_objects_object(struct waits *waits, unsigned int handle, const char *service);

/* Return the entry for a wait without an object, such as a sleep, a poll, or a suspension by another thread. */
struct awaited *wait_objects_nothing(struct waits *waits, unsigned int state,
				     const struct waiter *thread);

#endif
