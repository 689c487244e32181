/* SPDX-License-Identifier: MIT */
/*
 * The identity of the calling thread, as the streams of its process know it.
 *
 * A thread registers itself in the streams at its first event, and again when the epoch of the
 * process has changed.  A new epoch means that the thread is in a child made by fork, or that the
 * process has other streams (process.h).
 */
#ifndef PX_TRACE_THREAD_H
#define PX_TRACE_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

struct px_self;
struct rseq;

/*
 * The address of the stack frame of the calling function.  The frame pointer would cost a register.  This address is
 * also suitable: it is above everything that the function stores.  Its low bits are 0 (PX_FRAMES in inside.h).  Stacks
 * of x86-64 and aarch64 are always aligned to 16 bytes, but those of s390x and ARM to 8, and those of i386 perhaps to
 * 4.  There the next such address takes the place of the frame's own.  A call that runs and a handler that has
 * interrupted it still have different addresses, because the signal frame is between them.
 */
#if defined __x86_64__ || defined __aarch64__
#define px_frame_here() ((uintptr_t)__builtin_dwarf_cfa())
#else
#define px_frame_here() (((uintptr_t)__builtin_dwarf_cfa() + 15) & ~(uintptr_t)15)
#endif

/*
 * Each thread has one such structure.  It has no constructor, because a signal handler may be the
 * first to use it.  It is small, because the C library has little room for it (tests/preload/pitfalls.sh).  Members
 * that the usual path does not need are in struct px_inside.
 */
struct px_thread {
	uint64_t epoch; /* epoch of px_self when the other members were set */
	uint64_t id;	/* pthread_t */
	uint32_t tid;
	uint32_t handle;    /* TXTB context */
	uint32_t priority;  /* TXTB priority word */
	uint32_t given;	    /* handle reserved for this thread; 0: none is reserved */
	uint32_t is_shared; /* another thread may run with this storage at the same time */
	uint32_t counts;    /* 1 + the number of its table of counted calls (counted.c); 0: none */
	uintptr_t *word;    /* the calls in which the thread is (inside.h); NULL: no word yet */
	uintptr_t own_word; /* `word` points here if the thread has no entry (inside.h) */
	struct rseq *area;  /* for restartable sequences; NULL: not yet found, or none */
};

extern __thread struct px_thread px_thread PX_TLS;

/*
 * Fill in px_thread, and register the calling thread in all streams of the process.
 * Async-signal-safe.
 */
PX_COLD void px_thread_register(struct px_self *self, struct px_registry *registry);

/*
 * px_thread_reserve_handle() reserves a handle for a new thread before its creation, so that its
 * creator can record the handle.  It returns 0 if there is no registry.  The new thread calls
 * px_thread_take_handle() before its first event.
 */
uint32_t px_thread_reserve_handle(void);

/*
 * Register the thread without system calls (confined.h), unless it was registered before.  If its tid cannot be found,
 * it stays unregistered.
 */
PX_COLD void px_thread_register_confined(const struct px_self *self, struct px_registry *registry);

PX_INLINE void px_thread_take_handle(uint32_t handle)
{
	px_thread.given = handle;
}

/*
 * The first handle that threads of this program can have (maps_file.h).  The child of a fork has that of its parent,
 * and the program that a process executes has another one.  Async-signal-safe.
 */
uint32_t px_thread_first_handle(struct px_registry *registry);

/* In the child of a fork, before its first handle: give it a first handle of its own, and return that. */
uint32_t px_thread_renew_first_handle(struct px_registry *registry);

/*
 * Call this if the priority of the calling thread has changed.  Then the thread reads its priority
 * again at its next event.
 */
PX_INLINE void px_thread_renew(void)
{
	px_thread.epoch = 0;
}

/* Return the rseq area of the calling thread, or NULL if it has none.  Async-signal-safe. */
PX_NOINLINE struct rseq *px_thread_find_area(void);

/*
 * Call this before vfork().  Then the child, and later the parent's thread, look for the rseq area again at their next
 * events.  Otherwise the child would use an area that the kernel does not watch for the child, and no sequence would
 * notice an interruption.
 */
PX_INLINE void px_thread_doubt_area(void)
{
	px_thread.area = NULL;
}

/*
 * Call this if two threads run with this storage at the same time.  From now on, neither thread uses an rseq area.
 */
PX_INLINE void px_thread_share_area(void)
{
	px_thread.is_shared = 1;
	px_thread.area = NULL;
}

/* Return the tid of the calling thread, from the kernel.  The thread need not be registered. */
uint32_t px_thread_tid(void);

#endif
