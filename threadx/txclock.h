/* SPDX-License-Identifier: MIT */
/*
 * Time stamps of 100 ns from the library's counter.
 *
 * The length of a tick of the counter is known exactly only after a while.  So the clock reads CLOCK_MONOTONIC about
 * ten times a second, and corrects its scale: the stamps approach the true time until the next reading.  They never
 * jump.  The caller holds the lock (lock.h).
 */
#ifndef PX_THREADX_TXCLOCK_H
#define PX_THREADX_TXCLOCK_H

#include <stdint.h>

/* Start at 0 now. */
void px_tx_clock_start(void);

/* Return the number of ticks of 100 ns since px_tx_clock_start().  Async-signal-safe. */
uint64_t px_tx_clock_ticks(void);

#endif
