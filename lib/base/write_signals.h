/* SPDX-License-Identifier: MIT */
/*
 * If a write exceeds the file size limit, the kernel raises SIGXFSZ, and if nobody reads the pipe, SIGPIPE.  By default
 * both kill the program.  The library must report such a failure only by its error number (FLUSH-10), so it blocks the
 * signals while it writes.
 *
 * Thread-safe; not async-signal-safe.  The caller must disable cancellation, because sigtimedwait()
 * is a cancellation point.
 */
#ifndef PX_BASE_WRITE_SIGNALS_H
#define PX_BASE_WRITE_SIGNALS_H

#include <signal.h>

struct px_write_signals {
	sigset_t before; /* the signal mask */
	sigset_t pending;
};

/* Block SIGXFSZ and SIGPIPE. */
void px_write_signals_hold(struct px_write_signals *signals);

/*
 * Discard those that were raised since px_write_signals_hold(), and restore the signal mask.  One that was pending
 * before the hold stays pending.
 */
void px_write_signals_release(const struct px_write_signals *signals);

#endif
