/* SPDX-License-Identifier: MIT */
#include "base/sigxfsz.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static bool is_pending(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGXFSZ);
}

void px_sigxfsz_hold(struct px_sigxfsz *signals)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, &signals->before);
	signals->was_pending = is_pending();
}

/* Take one of what is pending, that of this thread first. */
static bool take_one(siginfo_t *info)
{
	static const struct timespec at_once = {0, 0};
	sigset_t set;
	int taken;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	do
		taken = sigtimedwait(&set, info, &at_once);
	while (taken < 0 && errno == EINTR);
	return taken == SIGXFSZ;
}

/*
 * Ours go to this thread.  One that was pending for it before has swallowed them, and is put back; one for
 * the process has not, and is still pending when ours is taken.
 */
void px_sigxfsz_release(const struct px_sigxfsz *signals)
{
	siginfo_t info;

	if (take_one(&info) && signals->was_pending && !is_pending()) {
		if (info.si_code == SI_TKILL)
			pthread_kill(pthread_self(), SIGXFSZ);
		else
			kill(getpid(), SIGXFSZ);
	}
	pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}
