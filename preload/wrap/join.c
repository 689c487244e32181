/* SPDX-License-Identifier: MIT */
/* Joins of threads.  A wrapper first tries the join without waiting. */
#include "c11.h"
#include "hook.h"

static void record_join(struct px_site site, uint32_t flags, pthread_t thread, uint32_t timeout_ms,
			int result)
{
	px_hook_record(site, flags, (void *)thread, timeout_ms, 0, result);
}

/* Return EBUSY if the thread has not ended, or if the C library has no function to try. */
static int try_join(struct px_hook_sample *sample, pthread_t thread, void **value)
{
	if (!px_real.pthread_tryjoin_np)
		return EBUSY;
	return PX_REAL(sample, px_real.pthread_tryjoin_np(thread, value));
}

#ifndef PX_TIME64
static int traced_join(struct px_site site, pthread_t thread, void **value)
{
	struct px_hook_sample sample = px_hook_begin();
	int result = try_join(&sample, thread, value);

	if (result != EBUSY) {
		record_join(site, PX_RECORD_WHOLE, thread, 0, result);
	} else {
		record_join(site, PX_RECORD_BEGINS, thread, 0, 0);
		result = PX_REAL(&sample, px_real.pthread_join(thread, value));
		record_join(site, PX_RECORD_ENDS, thread, 0, result);
	}
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_join(pthread_t thread, void **value)
{
	if (PX_NOT_TRACED(thread))
		return px_real.pthread_join(thread, value);
	return traced_join(PX_SITE(pthread_join, pthread_join), thread, value);
}

/*
 * C11 has no function that tries a join, but its threads are POSIX threads.  If the try fails, call the real function
 *     to get its result.
 */
static int traced_c11_join(struct px_site site, thrd_t thread, int *value)
{
	struct px_hook_sample sample = px_hook_begin();
	void *value_of_thread = NULL;
	int error = try_join(&sample, thread, &value_of_thread), result = thrd_success;

	if (error == EBUSY)
		px_hook_record(site, PX_RECORD_BEGINS, (void *)thread, 0, 0, 0);
	if (error != 0)
		result = PX_REAL(&sample, px_real.thrd_join(thread, value));
	else if (value)
		*value = (int)(intptr_t)value_of_thread;
	px_hook_record(site, error == EBUSY ? PX_RECORD_ENDS : PX_RECORD_WHOLE, (void *)thread, 0,
		       0, px_c11_error(result));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int thrd_join(thrd_t thread, int *value)
{
	if (PX_NOT_TRACED(thread))
		return px_real.thrd_join(thread, value);
	return traced_c11_join(PX_SITE(thrd_join, thrd_join), thread, value);
}

PX_WRAP int pthread_tryjoin_np(pthread_t thread, void **value)
{
	struct px_site site;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_tryjoin_np(thread, value);
	site = PX_SITE(pthread_tryjoin_np, pthread_tryjoin_np);
	return PX_CALL_AND_RECORD(site, result, px_real.pthread_tryjoin_np(thread, value),
				  record_join(site, PX_RECORD_WHOLE, thread, 0, result));
}
#endif

/*
 * Compute the time left until `until` in ms.  UINT32_MAX means forever.  Return false if the time is invalid: then the
 * real function refuses it.
 */
static bool time_left(clockid_t clock, const struct timespec *until, uint32_t *ms)
{
	struct timespec now;
	int64_t left;

	*ms = UINT32_MAX;
	if (!until)
		return true;
	if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000 || until->tv_sec < 0 ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || clock_gettime(clock, &now))
		return false;
	if (until->tv_sec - now.tv_sec > (time_t)(UINT32_MAX / 1000 - 1))
		return true;
	left = (until->tv_sec - now.tv_sec) * INT64_C(1000) +
	       (until->tv_nsec - now.tv_nsec) / 1000000;
	*ms = left < 0 ? 0 : (uint32_t)left;
	return true;
}

struct timed_join {
	struct px_site site;
	pthread_t thread;
	void **value;
	clockid_t clock;
	const struct timespec *until;
};

static int really_join(const struct timed_join *join)
{
	if (join->site.call == PX_CALL_pthread_timedjoin_np)
		return px_real.pthread_timedjoin_np(join->thread, join->value, join->until);
	return px_real.pthread_clockjoin_np(join->thread, join->value, join->clock, join->until);
}

static int traced_timed_join(const struct timed_join *join)
{
	struct px_hook_sample sample = px_hook_begin();
	uint32_t ms;
	bool waits = false;
	int result;

	if (!time_left(join->clock, join->until, &ms)) {
		result = PX_REAL(&sample, really_join(join));
	} else {
		result = try_join(&sample, join->thread, join->value);
		waits = result == EBUSY;
	}
	if (waits) {
		record_join(join->site, PX_RECORD_BEGINS, join->thread, ms, 0);
		result = PX_REAL(&sample, really_join(join));
	}
	record_join(join->site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, join->thread, ms, result);
	px_hook_end(&sample, join->site.wrapper);
	return result;
}

PX_WRAP int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	const struct timed_join join = {PX_SITE(pthread_timedjoin_np, pthread_timedjoin_np), thread,
					value, CLOCK_REALTIME, until};

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_timedjoin_np(thread, value, until);
	return traced_timed_join(&join);
}

PX_WRAP int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				 const struct timespec *until)
{
	const struct timed_join join = {PX_SITE(pthread_clockjoin_np, pthread_clockjoin_np), thread,
					value, clock, until};

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_clockjoin_np(thread, value, clock, until);
	return traced_timed_join(&join);
}
