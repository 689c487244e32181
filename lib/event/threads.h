/* SPDX-License-Identifier: MIT */
/*
 * The objects of a stream: what a handle in an entry stands for.  Threads and event types; the
 * newest PX_THREADS_MAX are kept, a further one replaces the oldest.
 *
 * In shared memory, written by traced threads at their first event (also in signal handlers), read
 * by the controller.  Wait-free: a writer takes the next place by a fetch-and-add, and passes over
 * one that somebody is still writing to; the word of the place tells a reader whether what it
 * copied is whole, as in a ring.
 */
#ifndef PX_EVENT_THREADS_H
#define PX_EVENT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "txtb/txtb.h"

#define PX_THREADS_MAX 1024
#define PX_OBJECT_NAME_SIZE 64

/* What belongs to no thread, such as the events of a controller in another process (INFO-3). */
#define PX_NO_THREAD px_txtb_handle(PX_TXTB_THREAD, 0xFFFFFF)
#define PX_NO_THREAD_NAME "no thread"

/* Who has the CPU while a thread sleeps and nobody is known to do anything, in the image of a log. */
#define PX_IDLE_THREAD px_txtb_handle(PX_TXTB_THREAD, 0xFFFFFE)
#define PX_IDLE_THREAD_NAME "idle"

/* True for the handle of a thread that there may be. */
PX_INLINE bool px_is_thread(uint32_t handle)
{
	return handle >> 24 == PX_TXTB_THREAD && handle < PX_IDLE_THREAD;
}

struct px_object {
	uint32_t handle;
	uint32_t type;	   /* enum px_txtb_object_type */
	uint32_t priority; /* of a thread: 0 ... 1023, smaller is more urgent */
	uint32_t pid;
	uint32_t tid;
	uint32_t reserved;
	uint64_t thread;		/* pthread_t of a thread */
	char name[PX_OBJECT_NAME_SIZE]; /* ends in a null */
};

struct px_threads_entry {
	uint64_t word; /* 2 * (serial + 1), plus 1 while it is written; 0: never used */
	struct px_object object;
};

struct px_threads {
	uint64_t next; /* serial of the next object */
	struct px_threads_entry place[PX_THREADS_MAX];
};

/*
 * Add an object and return its serial.  Where all places belong to threads that died as they wrote
 * there, it is lost, and the serial is one that px_threads_get() does not find.  Async-signal-safe.
 */
uint64_t px_threads_add(struct px_threads *objects, const struct px_object *object);

/* Copy the object with this serial.  False if it is not there (any more). */
bool px_threads_get(const struct px_threads *objects, uint64_t serial, struct px_object *object);

/* The object with this handle, the youngest if there are several. */
bool px_threads_find(const struct px_threads *objects, uint32_t handle, struct px_object *object);

#endif
