/* SPDX-License-Identifier: MIT */
/*
 * Access to memory that other threads, signal handlers or processes write.  The name of each macro
 * holds its memory order.  Only words of 32 and 64 bits.
 */
#ifndef PX_BASE_ATOMIC_H
#define PX_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* These accesses have no order.  The compiler does not tear, repeat or invent them. */
#define px_read_once(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define px_write_once(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/*
 * After the load sees the stored value, it also sees all that the storing thread wrote before the
 * store.
 */
#define px_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define px_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * A load that the CPU cannot move before an earlier exchange.  On aarch64 an exchange alone does
 * not prevent this.  On x86-64 it is an ordinary load.
 */
#define px_load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

/* These are full barriers on both sides. */
#define px_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_or(p, v) __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_and(p, v) __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define px_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/* Return true if *p was `old` and is now `new`.  A full barrier if it succeeds. */
#define px_compare_exchange(p, old, new)                                                           \
	__extension__({                                                                            \
		__typeof__(*(p)) px_expected = (old);                                              \
		__atomic_compare_exchange_n((p), &px_expected, (new), false, __ATOMIC_SEQ_CST,     \
					    __ATOMIC_RELAXED);                                     \
	})

/*
 * All stores before the fence are visible before any load after it is done.  ThreadSanitizer does
 * not know fences: an atomic exchange on a private word has the same effect there.
 */
PX_INLINE void px_full_fence(void)
{
#if defined __SANITIZE_THREAD__
	static uint32_t word;
	(void)px_exchange(&word, 0);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* All loads before the fence are done before any load after it. */
PX_INLINE void px_read_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* All stores before the fence are visible before any store after it. */
PX_INLINE void px_write_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/*
 * Raise *p to value, unless it is already there or beyond.  Both wrap around, so compare their
 * difference.
 */
PX_INLINE void px_raise_to(uint64_t *p, uint64_t value)
{
	uint64_t now = px_read_once(p);

	while ((int64_t)(value - now) > 0) {
		if (px_compare_exchange(p, now, value))
			return;
		now = px_read_once(p);
	}
}

#endif
