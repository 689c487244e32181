/* SPDX-License-Identifier: MIT */
/* Those who wait, and what they wait for: made as they are met. */
#ifndef TXTRACE_WAITS_WAIT_OBJECTS_H
#define TXTRACE_WAITS_WAIT_OBJECTS_H

#include "waits/waits.h"

/* Ahead of all: which names are those of several objects. */
void wait_objects_count_names(struct waits *waits);

/* By the context of an event. */
struct waiter *wait_objects_thread(struct waits *waits, unsigned int context);

/* By its handle; service: a call that it was named in. */
struct awaited *wait_objects_object(struct waits *waits, unsigned int handle, const char *service);

/* What is waited for without an object: sleep, the suspension of a thread by another one, a poll. */
struct awaited *wait_objects_nothing(struct waits *waits, unsigned int state,
				     const struct waiter *thread);

#endif
