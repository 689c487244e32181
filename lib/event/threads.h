/* SPDX-License-Identifier: MIT */
/*
 * The thread table of a stream.  A record of the stream has the handle of a thread, and a reader finds the thread in
 * this table.  The table holds threads only; event types are in typelist.h.  It keeps the newest PX_THREADS_MAX
 * threads.  Each further thread replaces the oldest thread that is not the first thread of a process.
 *
 * The table is in shared memory.  A traced thread adds itself at its first event, even in a signal handler.  The
 * controller reads the table.  A writer takes the next entry by fetch-and-add, and skips an entry that another thread
 * is still writing.  A reader copies an entry, and checks the word of the entry before and after.  If the word has not
 * changed, the copy is whole.  All functions are wait-free.
 */
#ifndef PX_EVENT_THREADS_H
#define PX_EVENT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "txtb/txtb.h"

#define PX_THREADS_MAX 4096
#define PX_OBJECT_NAME_SIZE 64

/*
 * The handle for events that belong to no thread of the traced processes.  For example, a
 * controller in another process records such events (INFO-3).
 */
#define PX_NO_THREAD px_txtb_handle(PX_TXTB_THREAD, 0xFFFFFF)
#define PX_NO_THREAD_NAME "no thread"

/*
 * The handle of the idle thread in the image of a log.  If a thread goes to sleep, and no other thread of the log is
 * known to run, the image shows the idle thread on the CPU.
 */
#define PX_IDLE_THREAD px_txtb_handle(PX_TXTB_THREAD, 0xFFFFFE)
#define PX_IDLE_THREAD_NAME "idle"

/*
 * The priority in the events of these two.  The viewer calls a priority inversion non-deterministic if a third thread
 * that is less urgent than the waiting thread has an event meanwhile.  These two are not threads of the program, so
 * their events are never less urgent.
 */
#define PX_PSEUDO_PRIORITY 0

/* Return true for a handle that a real thread can have. */
PX_INLINE bool px_is_thread(uint32_t handle)
{
	return handle >> 24 == PX_TXTB_THREAD && handle < PX_IDLE_THREAD;
}

/* A thread of this table.  A log also uses this structure for the objects of calls, with another type. */
struct px_object {
	uint32_t handle;
	uint32_t type;	   /* enum px_txtb_object_type */
	uint32_t priority; /* 0 ... 1023, a smaller number is more urgent */
	uint32_t pid;
	uint32_t tid;
	uint32_t program; /* number of its program (base/program.h); 0: not known.  A log does not have it */
	uint64_t thread;		/* pthread_t */
	char name[PX_OBJECT_NAME_SIZE]; /* null-terminated */
};

struct px_threads_entry {
	/* 2 * (serial + 1), plus 1 while a thread writes the entry; 0: the entry was never used. */
	uint64_t word;
	struct px_object object;
};

struct px_threads {
	uint64_t next; /* serial of the next thread */
	struct px_threads_entry entry[PX_THREADS_MAX];
};

/*
 * Add a thread and return its serial.  If each entry has a writer that was killed or has not finished, the thread is
 * not stored, and px_threads_get() does not find its serial.  Async-signal-safe.
 */
uint64_t px_threads_add(struct px_threads *threads, const struct px_object *object);

/*
 * Copy the thread with this serial.  Return false if the table does not hold it yet, or no longer
 * holds it.
 */
bool px_threads_get(const struct px_threads *threads, uint64_t serial, struct px_object *object);

/*
 * Copy the thread with this handle.  If there are several such threads, copy the newest.  Return
 * false if there is none.
 */
bool px_threads_find(const struct px_threads *threads, uint32_t handle, struct px_object *object);

#endif
