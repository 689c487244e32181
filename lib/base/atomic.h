/* SPDX-License-Identifier: MIT */
/*
 * Access to memory that others write: threads, signal handlers, other processes.  The order is in
 * the name; nothing is sequentially consistent by accident.  Words of 32 and 64 bits only.
 */
#ifndef PX_BASE_ATOMIC_H
#define PX_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* No order; the compiler neither tears, repeats nor invents the access. */
#define px_read_once(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define px_write_once(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/* What the releasing side wrote before is seen after. */
#define px_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define px_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * A load that stays behind every exchange before it, also where an exchange alone is no full
 * barrier for what follows (aarch64).  On x86-64 an ordinary load.
 */
#define px_load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

/* Full barriers on both sides. */
#define px_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_or(p, v) __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define px_fetch_and(p, v) __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define px_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

/* True if *p was old and is now new.  A full barrier when it succeeds. */
#define px_compare_exchange(p, old, new)                                                           \
	__extension__({                                                                            \
		__typeof__(*(p)) px_expected = (old);                                              \
		__atomic_compare_exchange_n((p), &px_expected, (new), false, __ATOMIC_SEQ_CST,     \
					    __ATOMIC_RELAXED);                                     \
	})

/*
 * Stores before it are visible to all before loads after it are done.  ThreadSanitizer does not
 * know fences; there, an atomic exchange on a word of our own has the same effect.
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

/* Loads before it are done before loads after it. */
PX_INLINE void px_read_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Stores before it are visible before stores after it. */
PX_INLINE void px_write_fence(void)
{
#if defined __SANITIZE_THREAD__
	px_full_fence();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/* Raise *p to value, or leave it when it is there or beyond (free-running, compared by difference).
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
