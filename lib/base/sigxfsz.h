/* SPDX-License-Identifier: MIT */
/*
 * Writing a file can raise SIGXFSZ, which ends a program that has not asked for it; the library tells of such
 * an error by its number alone (FLUSH-10).
 *
 * Thread-safe; not async-signal-safe.  The caller has cancellation disabled, since sigtimedwait() is a
 * cancellation point.
 */
#ifndef PX_BASE_SIGXFSZ_H
#define PX_BASE_SIGXFSZ_H

#include <signal.h>
#include <stdbool.h>

struct px_sigxfsz {
	sigset_t before;
	bool was_pending; /* SIGXFSZ */
};

/* Block what writing can raise. */
void px_sigxfsz_hold(struct px_sigxfsz *signals);

/* Take away what was raised since, and restore the mask.  A SIGXFSZ that was pending before stays. */
void px_sigxfsz_release(const struct px_sigxfsz *signals);

#endif
