/* SPDX-License-Identifier: MIT */
/*
 * If a write exceeds the file size limit, the kernel raises SIGXFSZ, which by default kills the
 * program.  The library must report such a failure only by its error number (FLUSH-10), so it
 * blocks the signal while it writes.
 *
 * Thread-safe; not async-signal-safe.  The caller must disable cancellation, because sigtimedwait()
 * is a cancellation point.
 */
#ifndef PX_BASE_SIGXFSZ_H
#define PX_BASE_SIGXFSZ_H

#include <signal.h>
#include <stdbool.h>

struct px_sigxfsz {
	sigset_t before;
	bool was_pending;
};

/* Block SIGXFSZ. */
void px_sigxfsz_hold(struct px_sigxfsz *signals);

/*
 * Discard a SIGXFSZ that was raised since px_sigxfsz_hold(), and restore the signal mask.  A
 * SIGXFSZ that was pending before the hold stays pending.
 */
void px_sigxfsz_release(const struct px_sigxfsz *signals);

#endif
