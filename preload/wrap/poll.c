/* SPDX-License-Identifier: MIT */
/*
 * Waiting for descriptors.  A wrapper first makes the same call, but with a zero timeout.  If no descriptor is ready
 * and the program wants to wait, the wrapper then makes the program's own call.  If the signal mask in the call allows
 * a pending signal, the first of the two calls that notices the signal returns EINTR.
 *
 * If the timeout is invalid, the wrapper makes only the real call, which refuses the timeout.
 */
#include "wrap/descriptor.h"

#include <string.h>

#include "wrap/probe.h"

#define FOREVER_MS UINT32_MAX

/* Convert a time to milliseconds, rounded up.  If the time is too long for 32 bits, return the value for forever. */
static uint32_t in_ms(int64_t seconds, int64_t nanoseconds)
{
	if (seconds < 0 || seconds >= FOREVER_MS / 1000 - 1)
		return FOREVER_MS;
	return (uint32_t)(seconds * 1000 + (nanoseconds + 999999) / 1000000);
}

static uint32_t ms_of(const struct timespec *timeout)
{
	return timeout ? in_ms(timeout->tv_sec, timeout->tv_nsec) : FOREVER_MS;
}

/* Return true if the call may wait: the timeout is valid and not zero. */
static bool may_wait(const struct timespec *timeout)
{
	return !timeout || (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 &&
			    timeout->tv_nsec < 1000000000 && (timeout->tv_sec || timeout->tv_nsec));
}

static const struct timespec zero_timeout;

/*
 * PX_FD_CALL() for a call that waits for descriptors.  If `waits` is true, first make the call `tried`: the call
 * `real`, but with a zero timeout.  If no descriptor is ready, `restore` the arguments that `tried` has overwritten,
 * record the start of the wait, and make the call `real`.
 */
#define POLL_CALL(site, fd, timeout_ms, waits, tried, restore, real)                               \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		uint32_t ms_ = (timeout_ms);                                                       \
		uint32_t flags_ = PX_RECORD_WHOLE;                                                 \
		bool waits_ = (waits);                                                             \
		int result_ = waits_ ? PX_REAL(&sample_, tried) : 0;                               \
                                                                                                   \
		if (waits_ && result_ == 0) {                                                      \
			restore;                                                                   \
			px_hook_record_fd(site, PX_RECORD_BEGINS, fd, ms_, 0);                     \
			flags_ = PX_RECORD_ENDS;                                                   \
		}                                                                                  \
		if (result_ == 0)                                                                  \
			result_ = PX_REAL(&sample_, real);                                         \
		px_hook_record_fd(site, flags_, fd, ms_, px_outcome(result_));                     \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result_;                                                                           \
	})

#define NOTHING ((void)0)

#ifndef PX_TIME64
PX_WRAP int poll(struct pollfd *fds, nfds_t nr_fds, int timeout_ms)
{
	if (PX_NOT_TRACED(poll))
		return px_real.poll(fds, nr_fds, timeout_ms);
	return POLL_CALL(PX_SITE(poll, poll), (int)nr_fds, (uint32_t)timeout_ms, timeout_ms != 0,
			 px_real.poll(fds, nr_fds, 0), NOTHING,
			 px_real.poll(fds, nr_fds, timeout_ms));
}

PX_WRAP int __poll_chk(struct pollfd *fds, nfds_t nr_fds, int timeout_ms, size_t room)
{
	if (PX_NOT_TRACED(poll))
		return px_real.__poll_chk(fds, nr_fds, timeout_ms, room);
	return POLL_CALL(PX_SITE(__poll_chk, poll), (int)nr_fds, (uint32_t)timeout_ms,
			 timeout_ms != 0, px_real.__poll_chk(fds, nr_fds, 0, room), NOTHING,
			 px_real.__poll_chk(fds, nr_fds, timeout_ms, room));
}
#endif

PX_WRAP int ppoll(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
		  const sigset_t *mask)
{
	if (PX_NOT_TRACED(poll))
		return px_real.ppoll(fds, nr_fds, timeout, mask);
	return POLL_CALL(PX_SITE(ppoll, poll), (int)nr_fds, ms_of(timeout), may_wait(timeout),
			 px_real.ppoll(fds, nr_fds, &zero_timeout, mask), NOTHING,
			 px_real.ppoll(fds, nr_fds, timeout, mask));
}

PX_WRAP int __ppoll_chk(struct pollfd *fds, nfds_t nr_fds, const struct timespec *timeout,
			const sigset_t *mask, size_t room)
{
	if (PX_NOT_TRACED(poll))
		return px_real.__ppoll_chk(fds, nr_fds, timeout, mask, room);
	return POLL_CALL(PX_SITE(__ppoll_chk, poll), (int)nr_fds, ms_of(timeout), may_wait(timeout),
			 px_real.__ppoll_chk(fds, nr_fds, &zero_timeout, mask, room), NOTHING,
			 px_real.__ppoll_chk(fds, nr_fds, timeout, mask, room));
}

/* The program's three sets, which select() overwrites, and copies of the words that select() uses. */
struct sets {
	fd_set *given[3];
	fd_set copy[3];
	size_t size;
};

static bool can_be_copied(int nr_fds)
{
	return nr_fds >= 0 && nr_fds <= FD_SETSIZE;
}

/* Copy the sets; can_be_copied() must be true.  Return false if a set cannot be read. */
static bool save_sets(struct sets *sets, int nr_fds)
{
	size_t bits = 8 * sizeof(fd_mask);

	sets->size = ((size_t)nr_fds + bits - 1) / bits * sizeof(fd_mask);
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(sets->given); i++) {
		if (!sets->given[i])
			continue;
		if (!px_probe_can_read(sets->given[i], sets->size))
			return false;
		memcpy(&sets->copy[i], sets->given[i], sets->size);
	}
	return true;
}

static void restore_sets(const struct sets *sets)
{
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(sets->given); i++)
		if (sets->given[i])
			memcpy(sets->given[i], &sets->copy[i], sets->size);
}

/* Return true if select() may wait.  select() accepts a timeout with more than 999,999 microseconds. */
static bool may_wait_for(const struct timeval *timeout)
{
	return !timeout || (timeout->tv_sec >= 0 && timeout->tv_usec >= 0 &&
			    (timeout->tv_sec || timeout->tv_usec));
}

static int traced_select(struct px_site site, int nr_fds, struct sets *sets,
			 struct timeval *timeout)
{
	fd_set *reads = sets->given[0], *writes = sets->given[1], *excepts = sets->given[2];
	uint32_t ms = timeout ? in_ms(timeout->tv_sec, timeout->tv_usec * INT64_C(1000)) :
				FOREVER_MS;
	bool waits = can_be_copied(nr_fds) && may_wait_for(timeout) && save_sets(sets, nr_fds);
	struct timeval none = {0, 0};

	return POLL_CALL(site, nr_fds, ms, waits,
			 px_real.select(nr_fds, reads, writes, excepts, &none), restore_sets(sets),
			 px_real.select(nr_fds, reads, writes, excepts, timeout));
}

PX_WRAP int select(int nr_fds, fd_set *reads, fd_set *writes, fd_set *excepts,
		   struct timeval *timeout)
{
	struct sets sets;

	if (PX_NOT_TRACED(poll))
		return px_real.select(nr_fds, reads, writes, excepts, timeout);
	sets.given[0] = reads;
	sets.given[1] = writes;
	sets.given[2] = excepts;
	return traced_select(PX_SITE(select, select), nr_fds, &sets, timeout);
}

static int traced_pselect(struct px_site site, int nr_fds, struct sets *sets,
			  const struct timespec *timeout, const sigset_t *mask)
{
	fd_set *reads = sets->given[0], *writes = sets->given[1], *excepts = sets->given[2];
	bool waits = can_be_copied(nr_fds) && may_wait(timeout) && save_sets(sets, nr_fds);

	return POLL_CALL(site, nr_fds, ms_of(timeout), waits,
			 px_real.pselect(nr_fds, reads, writes, excepts, &zero_timeout, mask),
			 restore_sets(sets),
			 px_real.pselect(nr_fds, reads, writes, excepts, timeout, mask));
}

PX_WRAP int pselect(int nr_fds, fd_set *reads, fd_set *writes, fd_set *excepts,
		    const struct timespec *timeout, const sigset_t *mask)
{
	struct sets sets;

	if (PX_NOT_TRACED(poll))
		return px_real.pselect(nr_fds, reads, writes, excepts, timeout, mask);
	sets.given[0] = reads;
	sets.given[1] = writes;
	sets.given[2] = excepts;
	return traced_pselect(PX_SITE(pselect, select), nr_fds, &sets, timeout, mask);
}

#ifndef PX_TIME64
PX_WRAP int epoll_create(int size)
{
	struct px_site site;

	if (PX_NOT_TRACED(poll))
		return px_real.epoll_create(size);
	site = PX_SITE(epoll_create, epoll_create);
	return PX_CALL_AND_RECORD(
		site, result, px_fd_opened(px_real.epoll_create(size)),
		px_hook_record_fd(site, PX_RECORD_WHOLE, result, 0, px_outcome(result)));
}

PX_WRAP int epoll_create1(int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(poll))
		return px_real.epoll_create1(flags);
	site = PX_SITE(epoll_create1, epoll_create);
	return PX_CALL_AND_RECORD(site, result, px_fd_opened(px_real.epoll_create1(flags)),
				  px_hook_record_fd(site, PX_RECORD_WHOLE, result, (uint32_t)flags,
						    px_outcome(result)));
}

static void record_epoll_ctl(struct px_site site, int epoll, int operation, int fd,
			     const struct epoll_event *event, int result)
{
	int64_t outcome = px_outcome(result);
	uint32_t more[2] = {(uint32_t)fd, 0};

	/* The kernel has read *event, so the memory is readable. */
	if (result == 0 && operation != EPOLL_CTL_DEL)
		more[1] = event->events;
	px_fd_record_more(site, PX_RECORD_WHOLE, epoll, (uint32_t)operation, outcome, more,
			  sizeof(more));
}

PX_WRAP int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	struct px_site site;

	if (PX_NOT_TRACED(poll))
		return px_real.epoll_ctl(epoll, operation, fd, event);
	site = PX_SITE(epoll_ctl, epoll_ctl);
	return PX_CALL_AND_RECORD(site, result, px_real.epoll_ctl(epoll, operation, fd, event),
				  record_epoll_ctl(site, epoll, operation, fd, event, result));
}

PX_WRAP int epoll_wait(int epoll, struct epoll_event *events, int nr_events, int timeout_ms)
{
	if (PX_NOT_TRACED(poll))
		return px_real.epoll_wait(epoll, events, nr_events, timeout_ms);
	return POLL_CALL(PX_SITE(epoll_wait, epoll_wait), epoll, (uint32_t)timeout_ms,
			 timeout_ms != 0, px_real.epoll_wait(epoll, events, nr_events, 0), NOTHING,
			 px_real.epoll_wait(epoll, events, nr_events, timeout_ms));
}

PX_WRAP int epoll_pwait(int epoll, struct epoll_event *events, int nr_events, int timeout_ms,
			const sigset_t *mask)
{
	if (PX_NOT_TRACED(poll))
		return px_real.epoll_pwait(epoll, events, nr_events, timeout_ms, mask);
	return POLL_CALL(PX_SITE(epoll_pwait, epoll_wait), epoll, (uint32_t)timeout_ms,
			 timeout_ms != 0, px_real.epoll_pwait(epoll, events, nr_events, 0, mask),
			 NOTHING, px_real.epoll_pwait(epoll, events, nr_events, timeout_ms, mask));
}
#endif

PX_WRAP int epoll_pwait2(int epoll, struct epoll_event *events, int nr_events,
			 const struct timespec *timeout, const sigset_t *mask)
{
	if (PX_NOT_TRACED(poll) || (timeout && !px_probe_can_read(timeout, sizeof(*timeout))))
		return px_real.epoll_pwait2(epoll, events, nr_events, timeout, mask);
	return POLL_CALL(PX_SITE(epoll_pwait2, epoll_wait), epoll, ms_of(timeout),
			 may_wait(timeout),
			 px_real.epoll_pwait2(epoll, events, nr_events, &zero_timeout, mask),
			 NOTHING, px_real.epoll_pwait2(epoll, events, nr_events, timeout, mask));
}
