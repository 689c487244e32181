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

/*
 * Take one pending SIGXFSZ. sigtimedwait() prefers a signal that is pending for this thread to one
 * that is pending for the process.
 */
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
 * The kernel sends the SIGXFSZ of the library's writes to this thread.  There are three cases with an earlier SIGXFSZ.
 * If it was pending for this thread, the kernel merged the two signals, so send the earlier one again.  If it was
 * pending for the process, the kernel did not merge the two.  This function takes the new signal, and the earlier one
 * stays pending.  If the writes raised no signal, this function has taken the earlier one, so send it again.
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
