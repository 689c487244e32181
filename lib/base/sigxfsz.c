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

/* Take one pending signal.  sigtimedwait() prefers a signal that is pending for this thread. */
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
 * The kernel sends the signals of our writes to this thread.  If one was already pending for the
 * thread, it merged with ours, so send it again.  If one was pending for the process, it did not
 * merge, and it is still pending after ours is taken.
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
