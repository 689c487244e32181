/* SPDX-License-Identifier: MIT */
/*
 * The lock of the trace, which stands for the disabled interrupts of ThreadX.
 *
 *	protects	the buffer, its registry, the table of objects (objects.h) and the clock (txclock.h)
 *	order		the thread that holds it takes no other lock.  The wrap callback of the program runs while its
 *			thread holds it
 *	signals		a handler may interrupt a thread that holds it.  The handler then leaves its event to that
 *			thread (px_tx_lock_enter())
 *	fork		the thread that forks holds it meanwhile, so the child has whole data.  The trace is off in the
 *			child
 *
 * A thread that does not get the lock soon sleeps, so a thread with a real-time priority cannot keep the holder from
 * its CPU.  The holder wakes a sleeper up without a fence between its store and the load that finds sleepers; so it
 * may miss one, which then sleeps for at most PX_TX_LOCK_SLEEP_NS.
 */
#ifndef PX_THREADX_LOCK_H
#define PX_THREADX_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define PX_TX_LOCK_SLEEP_NS 200000
#define PX_TX_PENDING 16

struct px_tx_event {
	uint32_t id;
	uint32_t info[4];
	uint32_t nesting; /* of interrupts */
};

enum px_tx_state {
	PX_TX_OUTSIDE = 0,
	PX_TX_INSIDE,	/* the thread holds the lock */
	PX_TX_CALLBACK	/* it holds the lock, all data are whole, and the program's callback runs */
};

/* The calling thread. */
struct px_tx_thread {
	uint32_t state;	  /* enum px_tx_state */
	uint32_t handle;  /* 0: not known yet */
	uint32_t priority; /* the word of its events */
	uint32_t nesting; /* interrupts that it has entered and not left */
	/* What signal handlers left while the state was PX_TX_INSIDE. */
	uint32_t wants_disable;
	uint32_t nr_pending;
	struct px_tx_event pending[PX_TX_PENDING];
};

extern __thread struct px_tx_thread px_tx_self PX_TLS;

struct px_tx_lock {
	uint32_t is_held;
	uint32_t nr_sleepers;
};

extern struct px_tx_lock px_tx_lock __attribute__((aligned(PX_CACHE_LINE), visibility("hidden")));

PX_COLD void px_tx_lock_wait(void);
PX_COLD void px_tx_lock_wake(void);

/*
 * Take the lock, unless this thread has it in a callback.  Return false if the caller is a signal handler that
 * interrupted this thread between px_tx_lock_enter() and px_tx_lock_leave().  Store the state before the call, for
 * px_tx_lock_leave().
 */
PX_INLINE bool px_tx_lock_enter(struct px_tx_thread *self, uint32_t *before)
{
	*before = px_read_once(&self->state);
	if (px_unlikely(*before == PX_TX_INSIDE))
		return false;
	/* From here on, a handler of this thread does not wait for the lock that this thread takes. */
	px_write_once(&self->state, PX_TX_INSIDE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (px_likely(*before == PX_TX_OUTSIDE) &&
	    px_unlikely(__atomic_exchange_n(&px_tx_lock.is_held, 1, __ATOMIC_ACQUIRE)))
		px_tx_lock_wait();
	return true;
}

/* Leave the lock.  What handlers have left remains: see px_tx_has_work(). */
PX_INLINE void px_tx_lock_leave(struct px_tx_thread *self, uint32_t before)
{
	if (px_likely(before == PX_TX_OUTSIDE)) {
		px_store_release(&px_tx_lock.is_held, 0);
		if (px_unlikely(px_read_once(&px_tx_lock.nr_sleepers) != 0))
			px_tx_lock_wake();
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	px_write_once(&self->state, before);
}

/* Return true if handlers have left something for this thread. */
PX_INLINE bool px_tx_has_work(const struct px_tx_thread *self)
{
	return px_unlikely(px_read_once(&self->nr_pending) != 0 || px_read_once(&self->wants_disable) != 0);
}

#endif
