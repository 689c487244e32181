/* SPDX-License-Identifier: MIT */
/*
 * Macros for memory that other threads, signal handlers or processes access at the same time.  They
 * work on words of 32 and 64 bits only.
 */
#ifndef PX_BASE_ATOMIC_H
#define PX_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/*
 * These two are relaxed: they order no other accesses.  The compiler does not tear, repeat or
 * invent them.
 */
#define px_read_once(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define px_write_once(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/*
 * If px_load_acquire() reads a value that px_store_release() stored, the loading thread then also
 * sees everything that the storing thread wrote before that store.
 */
#define px_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define px_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * A load that the CPU cannot move before an earlier exchange.  On aarch64 an exchange alone does
 * not prevent this move.  On x86-64 this is an ordinary load.
 */
#define px_load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

/*
 * These operations are sequentially consistent.  On aarch64 a later plain load can still overtake
 * their store: use px_load_ordered() for such a load.
 */
#define px_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_or(p, v) __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_and(p, v) __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define px_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/*
 * Return true if *p was `old` and is now `new`.  Sequentially consistent if it succeeds, relaxed if
 * it fails.
 */
#define px_compare_exchange(p, old, new)                                                           \
	__extension__({                                                                            \
		__typeof__(*(p)) px_expected = (old);                                              \
		__atomic_compare_exchange_n((p), &px_expected, (new), false, __ATOMIC_SEQ_CST,     \
					    __ATOMIC_RELAXED);                                     \
	})

/*
 * All stores before the fence become visible before any load after the fence reads memory.
 * ThreadSanitizer does not understand fences, so its builds use an atomic exchange on a private
 * word instead.
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

/* All loads before the fence are complete before any load after the fence. */
PX_INLINE void px_read_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* All stores before the fence become visible before any store after the fence. */
PX_INLINE void px_write_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/*
 * Raise *p to value, unless *p is already equal or larger.  Both numbers wrap around, so the
 * function looks at the sign of their difference.
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
