/* SPDX-License-Identifier: MIT */
/*
 * The calling thread as the streams of its process know it.
 *
 * A thread registers itself in the streams at its first event, and again when the epoch of the process has changed.
 * After a change it may be the thread of a child, made by fork, or there are other streams (process.h).
 */
#ifndef PX_TRACE_THREAD_H
#define PX_TRACE_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

struct px_self;
struct rseq;

/* Thread-local.  It has no constructor, because a signal handler may be the first to use it. */
struct px_thread {
	uint64_t epoch; /* of px_self, when the other members were set */
	uint64_t id;	/* pthread_t */
	uint32_t tid;
	uint32_t handle;    /* TXTB context */
	uint32_t priority;  /* TXTB priority word */
	uint32_t given;	    /* handle reserved for this thread; 0: any */
	uint32_t is_shared; /* another thread may run with this storage at the same time */
	struct rseq *area;  /* for restartable sequences; NULL: not yet found, or none */
};

#define PX_TLS __attribute__((tls_model("initial-exec"), visibility("hidden")))
extern __thread struct px_thread px_thread PX_TLS;

/*
 * Fill in px_thread, and register the thread in all streams of the process.  Async-signal-safe.
 */
PX_COLD void px_thread_register(struct px_self *self, struct px_registry *registry);

/*
 * Reserve a handle for a new thread before its creation, so that its creator can record the handle.  The new thread
 * takes the handle before its first event.  Return 0 if there is no registry.
 */
uint32_t px_thread_reserve_handle(void);
PX_INLINE void px_thread_take_handle(uint32_t handle)
{
	px_thread.given = handle;
}

/* Call this if the priority of the thread has changed: the next event reads it again. */
PX_INLINE void px_thread_renew(void)
{
	px_thread.epoch = 0;
}

/* Return the rseq area of the calling thread, or NULL if it has none.  Async-signal-safe. */
PX_NOINLINE struct rseq *px_thread_find_area(void);

/*
 * Call this before vfork(): then the child, or the thread, finds the area again at its next event.  Otherwise the
 * kernel would not watch the area for the child, and no sequence would notice.
 */
PX_INLINE void px_thread_doubt_area(void)
{
	px_thread.area = NULL;
}

/* Use no area from now on: two threads run with this storage at once. */
PX_INLINE void px_thread_share_area(void)
{
	px_thread.is_shared = 1;
	px_thread.area = NULL;
}

/* Return the tid of the calling thread, from the kernel.  It is correct also if the thread is not registered. */
uint32_t px_thread_tid(void);

#endif
