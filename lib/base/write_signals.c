/* SPDX-License-Identifier: MIT */
#include "base/write_signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static const int numbers[] = {SIGXFSZ, SIGPIPE};
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

void px_write_signals_hold(struct px_write_signals *signals)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NR_NUMBERS; i++)
		sigaddset(&set, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &set, &signals->before);
	sigpending(&signals->pending);
}

/*
 * Take one pending signal with this number.  sigtimedwait() prefers a signal that is pending for this thread to one
 * that is pending for the process.
 */
static bool take_one(int number, siginfo_t *info)
{
	static const struct timespec at_once = {0, 0};
	sigset_t set;
	int taken;

	sigemptyset(&set);
	sigaddset(&set, number);
	do
		taken = sigtimedwait(&set, info, &at_once);
	while (taken < 0 && errno == EINTR);
	return taken == number;
}

static bool is_pending(int number)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, number);
}

/*
 * The kernel sends the signals of the library's writes to this thread.  There are three cases with an earlier signal of
 * the same number.  If it was pending for this thread, the kernel merged the two signals, so send the earlier one
 * again.  If it was pending for the process, the kernel did not merge the two.  This function takes the new signal, and
 * the earlier one stays pending.  If the writes raised no signal, this function has taken the earlier one, so send it
 * again.
 */
static void discard(int number, bool was_pending)
{
	siginfo_t info;

	if (!take_one(number, &info) || !was_pending || is_pending(number))
		return;
	if (info.si_code == SI_TKILL)
		pthread_kill(pthread_self(), number);
	else
		kill(getpid(), number);
}

void px_write_signals_release(const struct px_write_signals *signals)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < NR_NUMBERS; i++)
		if (sigismember(&pending, numbers[i]))
			discard(numbers[i], sigismember(&signals->pending, numbers[i]));
	pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}
