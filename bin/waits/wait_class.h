/* SPDX-License-Identifier: MIT */
/* Classes of waits, by what a thread waits for.  A viewer has a colour for each class. */
#ifndef TXTRACE_WAITS_WAIT_CLASS_H
#define TXTRACE_WAITS_WAIT_CLASS_H

#include "waits/waits.h"

enum wait_class {
	WAIT_OTHER,	/* for memory, or suspended by another thread */
	WAIT_LOCK,	/* mutex, rwlock, spin lock, once */
	WAIT_CONDITION, /* condition variable, event flags, barrier */
	WAIT_QUEUE,	/* semaphore, queue */
	WAIT_SLEEP,
	WAIT_IO,   /* file, socket, poll */
	WAIT_JOIN, /* end of a thread or of a process */
};

enum wait_class wait_class_of(const struct wait *wait);

#endif
