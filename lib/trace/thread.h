/* SPDX-License-Identifier: MIT */
/*
 * The calling thread as the streams of its process know it.
 *
 * It introduces itself to them at its first event, and again when the process has another epoch: then
 * it may have become another one, by fork, or there are other streams (process.h).
 */
#ifndef PX_TRACE_THREAD_H
#define PX_TRACE_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

struct px_self;
struct rseq;

/* A thread, in its own storage: small, without a constructor, as a handler may touch it first. */
struct px_thread {
	uint64_t epoch; /* of px_self when the rest was filled in */
	uint64_t id;	/* pthread_t */
	uint32_t tid;
	uint32_t handle;    /* TXTB context */
	uint32_t priority;  /* TXTB priority word */
	uint32_t given;	    /* the handle that it is to have; 0: any */
	uint32_t is_shared; /* somebody else may run with this storage at the same time */
	struct rseq *area;  /* of its restartable sequences; NULL: to be looked for, or none */
};

#define PX_TLS __attribute__((tls_model("initial-exec"), visibility("hidden")))
extern __thread struct px_thread px_thread PX_TLS;

/*
 * Fill in px_thread, and make the thread known to all streams of the process.  Async-signal-safe.
 */
PX_COLD void px_thread_introduce(struct px_self *self, struct px_registry *registry);

/*
 * A handle for a thread that is about to be created, so that its creator can tell of it; 0: there is none.  The thread
 * takes it ahead of its first event.
 */
uint32_t px_thread_reserve_handle(void);
PX_INLINE void px_thread_take_handle(uint32_t handle)
{
	px_thread.given = handle;
}

/* Its priority has changed: it is looked up at the next event. */
PX_INLINE void px_thread_renew(void)
{
	px_thread.epoch = 0;
}

/* The area of the calling thread; NULL: there is none.  Async-signal-safe. */
PX_NOINLINE struct rseq *px_thread_find_area(void);

/*
 * It is looked for again: ahead of vfork(), by the child or by the thread, whichever is first to record an event.
 * The kernel does not watch the child otherwise, and nobody could tell.
 */
PX_INLINE void px_thread_doubt_area(void)
{
	px_thread.area = NULL;
}

/* There is none any more: two would run with it at once. */
PX_INLINE void px_thread_share_area(void)
{
	px_thread.is_shared = 1;
	px_thread.area = NULL;
}

/* The tid of the calling thread as the kernel has it: right also where the thread was not introduced. */
uint32_t px_thread_tid(void);

#endif
