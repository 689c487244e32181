/* SPDX-License-Identifier: MIT */
/*
 * Timers of processes.  The wrapper records a deletion before the call, because the timer is gone before the call
 * returns.  If the call fails, a second event has the result.
 */
#include "hook.h"

#ifndef PX_TIME64
static void *address_of(timer_t timer)
{
	return (void *)(uintptr_t)timer;
}

PX_WRAP int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	struct px_site site;

	if (PX_NOT_TRACED(timer))
		return px_real.timer_create(clock, event, timer);
	site = PX_SITE(timer_create, timer_create);
	return PX_CALL_AND_RECORD(site, result, px_real.timer_create(clock, event, timer),
				  px_hook_record(site, PX_RECORD_WHOLE,
						 result == 0 ? address_of(*timer) : NULL,
						 (uint32_t)clock, 0, result == 0 ? 0 : errno));
}
#endif

/* Return the time of the first expiry in ms from now.  If the time is absolute, ask the timer how much time is left. */
static uint32_t first_ms(timer_t timer, int flags, const struct timespec *first)
{
	struct itimerspec left = {.it_value = *first};
	int64_t ms;

	if ((flags & TIMER_ABSTIME) && (first->tv_sec || first->tv_nsec))
		timer_gettime(timer, &left);
	ms = left.it_value.tv_sec * INT64_C(1000) + left.it_value.tv_nsec / 1000000;
	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static void record_settime(struct px_site site, timer_t timer, int flags,
			   const struct itimerspec *value, int error)
{
	struct {
		union px_call_data head;
		uint64_t interval_ns;
	} data = {.head.of_object = {.object = (uint64_t)(uintptr_t)timer,
				     .value = error ? 0 : first_ms(timer, flags, &value->it_value),
				     .result = (int16_t)error}};

	if (!error)
		data.interval_ns = (uint64_t)value->it_interval.tv_sec * UINT64_C(1000000000) +
				   (uint64_t)value->it_interval.tv_nsec;
	px_hook_record_long(site, PX_RECORD_WHOLE, &data, sizeof(data));
}

PX_WRAP int timer_settime(timer_t timer, int flags, const struct itimerspec *value,
			  struct itimerspec *old)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result, saved_errno;

	if (PX_NOT_TRACED(timer))
		return px_real.timer_settime(timer, flags, value, old);
	site = PX_SITE(timer_settime, timer_settime);
	sample = px_hook_begin();
	result = PX_REAL(&sample, px_real.timer_settime(timer, flags, value, old));
	saved_errno = errno;
	record_settime(site, timer, flags, value, result == 0 ? 0 : saved_errno);
	px_hook_end(&sample, site.wrapper);
	errno = saved_errno;
	return result;
}

#ifndef PX_TIME64
PX_WRAP int timer_delete(timer_t timer)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result, saved_errno;

	if (PX_NOT_TRACED(timer))
		return px_real.timer_delete(timer);
	site = PX_SITE(timer_delete, timer_delete);
	sample = px_hook_begin();
	px_hook_record(site, PX_RECORD_WHOLE, address_of(timer), 0, 0, 0);
	result = PX_REAL(&sample, px_real.timer_delete(timer));
	saved_errno = errno;
	if (result != 0)
		px_hook_record(site, PX_RECORD_WHOLE, address_of(timer), 0, 0, saved_errno);
	px_hook_end(&sample, site.wrapper);
	errno = saved_errno;
	return result;
}
#endif
