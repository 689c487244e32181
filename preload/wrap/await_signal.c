/* SPDX-License-Identifier: MIT */
/* Waiting for a signal.  The wrappers first take a signal that is already pending, with a zero timeout. */
#include "deadline.h"
#include "wrap/probe.h"
#include "wrap/trial.h"

static const struct timespec at_once;

/* The events of a call that returns the number of the signal, or -1. */
#define SIGNAL_CALL(site, tries, set, info, real)                                                  \
	PX_TRIAL_CALL(site, (tries) && px_real.sigtimedwait,                                       \
		      px_real.sigtimedwait(set, info, &at_once), errno == EAGAIN, result_, real,   \
		      px_hook_record(site, PX_RECORD_BEGINS, NULL, 0, 0, 0),                       \
		      px_hook_record(site, flags_, NULL, result_ > 0 ? (uint32_t)result_ : 0, 0,   \
				     result_ > 0 ? 0 : errno))

#ifndef PX_TIME64
PX_WRAP int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct px_site site;

	if (PX_NOT_TRACED(sleep))
		return px_real.sigwaitinfo(set, info);
	site = PX_SITE(sigwaitinfo, sigwaitinfo);
	return SIGNAL_CALL(site, true, set, info, px_real.sigwaitinfo(set, info));
}
#endif

/* The kernel refuses an invalid timeout before it looks for a signal. */
static bool may_wait_until(const struct timespec *timeout)
{
	return !timeout || (px_probe_can_read(timeout, sizeof(*timeout)) &&
			    px_deadline_is_time(timeout) && timeout->tv_sec >= 0 &&
			    (timeout->tv_sec > 0 || timeout->tv_nsec > 0));
}

PX_WRAP int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct px_site site;

	if (PX_NOT_TRACED(sleep))
		return px_real.sigtimedwait(set, info, timeout);
	site = PX_SITE(sigtimedwait, sigtimedwait);
	return SIGNAL_CALL(site, may_wait_until(timeout), set, info,
			   px_real.sigtimedwait(set, info, timeout));
}

#ifndef PX_TIME64
/* sigwait() returns an error number, and does not change errno. */
PX_WRAP int sigwait(const sigset_t *set, int *number)
{
	struct px_site site;
	struct px_hook_sample sample;
	int saved_errno = errno, taken = -1, result = 0;
	uint32_t flags = PX_RECORD_WHOLE;

	if (PX_NOT_TRACED(sleep))
		return px_real.sigwait(set, number);
	site = PX_SITE(sigwait, sigwait);
	sample = px_hook_begin();
	if (px_real.sigtimedwait && !px_fd_is_confined())
		taken = PX_REAL(&sample, px_real.sigtimedwait(set, NULL, &at_once));
	if (taken > 0) {
		*number = taken;
	} else {
		errno = saved_errno;
		px_hook_record(site, PX_RECORD_BEGINS, NULL, 0, 0, 0);
		flags = PX_RECORD_ENDS;
		result = PX_REAL(&sample, px_real.sigwait(set, number));
	}
	px_hook_record(site, flags, NULL, result == 0 ? (uint32_t)*number : 0, 0, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

/* The symbol sigpause is the BSD function.  In <signal.h>, the same name means the X/Open function, __xpg_sigpause. */
PX_WRAP int sigpause_of_bsd(int mask) __asm__("sigpause");

/* These calls return only after a signal handler has run. */
#define SUSPENDS(site, real)                                                                       \
	({                                                                                         \
		int result_;                                                                       \
                                                                                                   \
		px_hook_record(site, PX_RECORD_BEGINS, NULL, 0, 0, 0);                             \
		result_ = (real);                                                                  \
		px_hook_record(site, PX_RECORD_ENDS, NULL, 0, 0, errno);                           \
		result_;                                                                           \
	})

#define SUSPEND(function, symbol, parameter, argument)                                             \
	PX_WRAP int function(parameter argument)                                                   \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(sleep))                                                          \
			return px_real.symbol(argument);                                           \
		site = PX_SITE(symbol, sigsuspend);                                                \
		return SUSPENDS(site, px_real.symbol(argument));                                   \
	}
SUSPEND(sigsuspend, sigsuspend, const sigset_t *, set)
SUSPEND(__sigsuspend, __sigsuspend, const sigset_t *, set)
SUSPEND(__xpg_sigpause, __xpg_sigpause, int, number)
SUSPEND(sigpause_of_bsd, sigpause, int, mask)

PX_WRAP int __sigpause(int number_or_mask, int is_number)
{
	struct px_site site;

	if (PX_NOT_TRACED(sleep))
		return px_real.__sigpause(number_or_mask, is_number);
	site = PX_SITE(__sigpause, sigsuspend);
	return SUSPENDS(site, px_real.__sigpause(number_or_mask, is_number));
}
#endif
