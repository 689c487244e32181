/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 100

__thread struct px_tx_thread px_tx_self;
struct px_tx_lock px_tx_lock;

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ __volatile__("yield");
#endif
}

static bool try_lock(void)
{
	return px_read_once(&px_tx_lock.is_held) == 0 &&
	       __atomic_exchange_n(&px_tx_lock.is_held, 1, __ATOMIC_ACQUIRE) == 0;
}

void px_tx_lock_wait(void)
{
	const struct timespec limit = {.tv_nsec = PX_TX_LOCK_SLEEP_NS};

	for (;;) {
		for (int i = 0; i < SPINS; i++) {
			if (try_lock())
				return;
			relax();
		}
		px_fetch_add(&px_tx_lock.nr_sleepers, 1);
		syscall(SYS_futex, &px_tx_lock.is_held, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
		px_fetch_add(&px_tx_lock.nr_sleepers, (uint32_t)-1);
	}
}

void px_tx_lock_wake(void)
{
	syscall(SYS_futex, &px_tx_lock.is_held, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
