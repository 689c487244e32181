/* SPDX-License-Identifier: MIT */
/* ThreadX's tables: events, their information words, and types of objects. */
#ifndef TXTRACE_TRACE_NATIVE_H
#define TXTRACE_TRACE_NATIVE_H

#include <stdbool.h>

/* ThreadX's ids of the events that the tool interprets. */
enum {
	NATIVE_THREAD_RESUME = 1,
	NATIVE_THREAD_SUSPEND = 2,
	NATIVE_ISR_ENTER = 3,
	NATIVE_ISR_EXIT = 4,
	NATIVE_TIME_SLICE = 5,
	NATIVE_RUNNING = 6, /* TraceX synthesizes this event; in a file it has no meaning */
	NATIVE_EVENT_FLAGS_GET = 32,
	NATIVE_EVENT_FLAGS_SET = 36,
	NATIVE_MUTEX_DELETE = 51,
	NATIVE_MUTEX_GET = 52,
	NATIVE_MUTEX_PUT = 57,
	NATIVE_QUEUE_FRONT_SEND = 63,
	NATIVE_QUEUE_RECEIVE = 68,
	NATIVE_QUEUE_SEND = 69,
	NATIVE_SEMAPHORE_CEILING_PUT = 80,
	NATIVE_SEMAPHORE_DELETE = 82,
	NATIVE_SEMAPHORE_GET = 83,
	NATIVE_SEMAPHORE_PUT = 88,
	NATIVE_THREAD_CREATE = 100,
	NATIVE_THREAD_RELINQUISH = 109,
	NATIVE_USER = 4096 /* user events are from here on */
};

/* The thread "idle" has this handle in all trace buffers that are made from logs. */
#define NATIVE_IDLE_HANDLE 0x01FFFFFEu
#define NATIVE_IDLE_NAME "idle"

enum object_type { /* the numbers are those of ThreadX */
		   OBJECT_THREAD = 1,
		   OBJECT_TIMER = 2,
		   OBJECT_QUEUE = 3,
		   OBJECT_SEMAPHORE = 4,
		   OBJECT_MUTEX = 5,
		   OBJECT_EVENT_FLAGS = 6,
		   OBJECT_BLOCK_POOL = 7,
		   OBJECT_BYTE_POOL = 8,
		   OBJECT_TCP_SOCKET = 13,
		   OBJECT_UDP_SOCKET = 14,
		   OBJECT_EVENT_TYPE = 15
};

/* Return ThreadX's name of information word i, such as queue_ptr, or NULL. */
const char *native_label(unsigned int native, int i);

/* Return TraceX's name of this event.  If there is none, return ThreadX's name without its prefix, or NULL. */
const char *native_title(unsigned int native);

/* Return true if a word with this label is the handle of an object. */
bool label_is_object(const char *label);

/* Return the name of an object type, such as "mutex". */
const char *object_type_name(int type);

#endif
