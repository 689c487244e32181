/* SPDX-License-Identifier: MIT */
/*
 * Sleep.  Each call has two events with the requested time.  A call that the kernel will refuse has one event.
 *
 * The kernel refuses a bad pointer.  So the wrappers here dereference a pointer only if the memory is readable.
 */
#include "base/clock.h"
#include "deadline.h"
#include "hook.h"
#include "wrap/probe.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t ns_of(const struct timespec *time)
{
	uint64_t seconds = (uint64_t)time->tv_sec;

	if (seconds > INT64_MAX / NS_PER_S - 1)
		return INT64_MAX;
	return seconds * NS_PER_S + (uint64_t)time->tv_nsec;
}

static uint32_t ms_of(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);

	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

PX_INLINE void record(struct px_site site, uint32_t flags, uint64_t ns, int result)
{
	px_hook_record_words(site, flags, ns, px_pair_of(ms_of(ns), (uint32_t)result << 16));
}

PX_INLINE bool is_duration(const struct timespec *time)
{
	return px_probe_can_read(time, sizeof(*time)) && px_deadline_is_time(time) &&
	       time->tv_sec >= 0;
}

PX_WRAP int nanosleep(const struct timespec *time, struct timespec *left)
{
	struct px_site site;
	bool is_valid;
	uint64_t ns;
	int result;

	if (PX_NOT_TRACED(sleep))
		return px_real.nanosleep(time, left);
	site = PX_SITE(nanosleep, nanosleep);
	is_valid = is_duration(time);
	ns = is_valid ? ns_of(time) : 0;
	if (is_valid)
		record(site, PX_RECORD_BEGINS, ns, 0);
	result = px_real.nanosleep(time, left);
	record(site, is_valid ? PX_RECORD_ENDS : PX_RECORD_WHOLE, ns, result ? errno : 0);
	return result;
}

/* Return the time from now until `time`.  Return 0 for clocks that can be read only with a system call. */
static uint64_t ns_until(clockid_t clock, const struct timespec *time)
{
	struct timespec now;
	uint64_t then_ns = ns_of(time), now_ns;

	if (!px_deadline_is_clock(clock) || clock_gettime(clock, &now) != 0)
		return 0;
	now_ns = ns_of(&now);
	return then_ns > now_ns ? then_ns - now_ns : 0;
}

PX_WRAP int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			    struct timespec *left)
{
	struct px_site site;
	bool is_valid;
	uint64_t ns = 0;
	int result;

	if (PX_NOT_TRACED(sleep))
		return px_real.clock_nanosleep(clock, flags, time, left);
	site = PX_SITE(clock_nanosleep, clock_nanosleep);
	is_valid = is_duration(time) && clock != CLOCK_THREAD_CPUTIME_ID; /* the kernel always refuses this clock */
	if (is_valid) {
		ns = (flags & TIMER_ABSTIME) ? ns_until(clock, time) : ns_of(time);
		record(site, PX_RECORD_BEGINS, ns, 0);
	}
	result = px_real.clock_nanosleep(clock, flags, time, left);
	record(site, is_valid ? PX_RECORD_ENDS : PX_RECORD_WHOLE, ns, result);
	return result;
}

#ifndef PX_TIME64
PX_WRAP int usleep(useconds_t us)
{
	struct px_site site;
	uint64_t ns = (uint64_t)us * 1000;
	int result;

	if (PX_NOT_TRACED(sleep))
		return px_real.usleep(us);
	site = PX_SITE(usleep, usleep);
	record(site, PX_RECORD_BEGINS, ns, 0);
	result = px_real.usleep(us);
	record(site, PX_RECORD_ENDS, ns, result ? errno : 0);
	return result;
}

PX_WRAP unsigned int sleep(unsigned int seconds)
{
	struct px_site site;
	uint64_t ns = seconds * NS_PER_S;
	unsigned int left;

	if (PX_NOT_TRACED(sleep))
		return px_real.sleep(seconds);
	site = PX_SITE(sleep, sleep);
	record(site, PX_RECORD_BEGINS, ns, 0);
	left = px_real.sleep(seconds);
	record(site, PX_RECORD_ENDS, ns, left > INT16_MAX ? INT16_MAX : (int)left);
	return left;
}
#endif

/*
 * The result -1 means that a signal handler ended the sleep.  Other negative results do not show the cause, but the
 * only possible cause is an invalid time.
 */
PX_WRAP int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	struct px_site site;
	bool is_valid;
	uint64_t ns;
	int result;

	if (PX_NOT_TRACED(sleep))
		return px_real.thrd_sleep(time, left);
	site = PX_SITE(thrd_sleep, thrd_sleep);
	is_valid = is_duration(time);
	ns = is_valid ? ns_of(time) : 0;
	if (is_valid)
		record(site, PX_RECORD_BEGINS, ns, 0);
	result = px_real.thrd_sleep(time, left);
	record(site, is_valid ? PX_RECORD_ENDS : PX_RECORD_WHOLE, ns,
	       result == -1 ? EINTR :
	       result != 0  ? EINVAL :
			      0);
	return result;
}

#ifndef PX_TIME64
PX_WRAP int pause(void)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(sleep))
		return px_real.pause();
	site = PX_SITE(pause, pause);
	record(site, PX_RECORD_BEGINS, 0, 0);
	result = px_real.pause();
	record(site, PX_RECORD_ENDS, 0, errno);
	return result;
}

/* Record before the call, because other threads run during the call.  The call never fails. */
PX_WRAP int sched_yield(void)
{
	struct px_site site;

	if (PX_NOT_TRACED(thread))
		return px_real.sched_yield();
	site = PX_SITE(sched_yield, sched_yield);
	px_hook_record(site, PX_RECORD_WHOLE, NULL, 0, 0, 0);
	return px_real.sched_yield();
}

PX_WRAP void thrd_yield(void)
{
	struct px_site site = PX_SITE(thrd_yield, thrd_yield);

	if (!PX_NOT_TRACED(thread))
		px_hook_record(site, PX_RECORD_WHOLE, NULL, 0, 0, 0);
	px_real.thrd_yield();
}
#endif
