/* SPDX-License-Identifier: MIT */
/*
 * Condition variables.  Inside the C library, a waiter unlocks its mutex and later locks it again.  No wrapper sees
 * these two steps.  So the wrapper of the wait records an unlock before the wait and a lock after it, if mutexes or
 * condition variables are recorded.  Without these events, a trace would show two owners.
 *
 * A wait that fails at once has no unlock and no lock.  A wait fails at once if the deadline is invalid.  It also fails
 * at once if the mutex stores its owner and the owner is another thread.  If a waiter is cancelled, it owns the mutex
 * when its cleanup handlers run. Then the trace has only the unlock and the start of the wait.
 */
#include "c11.h"
#include "deadline.h"
#include "hook.h"
#include "wrap/mutex.h"

#ifndef PX_TIME64
/* Return the number of waiters, or 0 if the number is unknown. */
PX_INLINE uint32_t waiters_of(const pthread_cond_t *cond)
{
#ifdef __GLIBC__
	return px_read_once(&cond->__data.__wrefs) >> 3;
#else
	(void)cond;
	return 0;
#endif
}
#endif

static int really_wait(enum px_call call, pthread_cond_t *cond, pthread_mutex_t *mutex,
		       struct px_deadline deadline)
{
	switch (call) {
	case PX_CALL_cnd_wait:
		return px_real.cnd_wait((cnd_t *)cond, (mtx_t *)mutex);
	case PX_CALL_cnd_timedwait:
		return px_real.cnd_timedwait((cnd_t *)cond, (mtx_t *)mutex, deadline.time);
	case PX_CALL_pthread_cond_timedwait:
		return px_real.pthread_cond_timedwait(cond, mutex, deadline.time);
	case PX_CALL_pthread_cond_clockwait:
		return px_real.pthread_cond_clockwait(cond, mutex, deadline.clock, deadline.time);
	default:
		return px_real.pthread_cond_wait(cond, mutex);
	}
}

static void record(struct px_site site, uint32_t flags, const pthread_cond_t *cond,
		   const pthread_mutex_t *mutex, int error)
{
	struct {
		union px_call_data data;
		uint64_t mutex;
	} data = {{.of_object = {.object = (uint64_t)(uintptr_t)cond, .result = (int16_t)error}},
		  (uint64_t)(uintptr_t)mutex};

	if (px_hook_is_on(PX_GROUP_cond))
		px_hook_record_long(site, flags, &data, sizeof(data));
}

static bool has_deadline(enum px_call call)
{
	return call != PX_CALL_pthread_cond_wait && call != PX_CALL_cnd_wait;
}

static bool is_refused(enum px_call call, const pthread_mutex_t *mutex, struct px_deadline deadline)
{
	return (has_deadline(call) && !px_deadline_is_valid(deadline)) ||
	       px_mutex_is_refused(mutex);
}

static int traced_wait(struct px_site site, pthread_cond_t *cond, pthread_mutex_t *mutex,
		       struct px_deadline deadline)
{
	struct px_hook_sample sample = px_hook_begin();
	int result, error;

	if (is_refused(site.call, mutex, deadline)) {
		result = PX_REAL(&sample, really_wait(site.call, cond, mutex, deadline));
		record(site, PX_RECORD_WHOLE, cond, mutex, px_c11_error_of(site.call, result));
	} else {
		px_mutex_record_unlock(mutex, site.caller);
		record(site, PX_RECORD_BEGINS, cond, mutex, 0);
		result = PX_REAL(&sample, really_wait(site.call, cond, mutex, deadline));
		error = px_c11_error_of(site.call, result);
		record(site, PX_RECORD_ENDS, cond, mutex, error);
		px_mutex_record_lock(mutex, error == ETIMEDOUT ? 0 : error, site.caller);
	}
	px_hook_end(&sample, site.wrapper);
	return result;
}

#define NOT_TRACED (px_likely(!px_gate_is_open()) || px_hook_is_off(PX_GROUP_cond | PX_GROUP_mutex))

#ifndef PX_TIME64
PX_WRAP int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (NOT_TRACED)
		return px_real.pthread_cond_wait(cond, mutex);
	return traced_wait(PX_SITE(pthread_cond_wait, pthread_cond_wait), cond, mutex,
			   (struct px_deadline){0, NULL});
}
#endif

/*
 * The clock is an attribute of the condition variable.  The checks here work with any clock that is valid for a wait.
 */
PX_WRAP int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				   const struct timespec *time)
{
	if (NOT_TRACED)
		return px_real.pthread_cond_timedwait(cond, mutex, time);
	return traced_wait(PX_SITE(pthread_cond_timedwait, pthread_cond_timedwait), cond, mutex,
			   (struct px_deadline){CLOCK_REALTIME, time});
}

PX_WRAP int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *time)
{
	if (NOT_TRACED)
		return px_real.pthread_cond_clockwait(cond, mutex, clock, time);
	return traced_wait(PX_SITE(pthread_cond_clockwait, pthread_cond_clockwait), cond, mutex,
			   (struct px_deadline){clock, time});
}

#ifndef PX_TIME64
PX_WRAP int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	if (NOT_TRACED)
		return px_real.cnd_wait(cond, mutex);
	return traced_wait(PX_SITE(cnd_wait, cnd_wait), (pthread_cond_t *)cond,
			   (pthread_mutex_t *)mutex, (struct px_deadline){0, NULL});
}
#endif

PX_WRAP int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *time)
{
	if (NOT_TRACED)
		return px_real.cnd_timedwait(cond, mutex, time);
	return traced_wait(PX_SITE(cnd_timedwait, cnd_timedwait), (pthread_cond_t *)cond,
			   (pthread_mutex_t *)mutex, (struct px_deadline){CLOCK_REALTIME, time});
}

#ifndef PX_TIME64
PX_INLINE int really_signal(enum px_call call, pthread_cond_t *cond)
{
	switch (call) {
	case PX_CALL_cnd_signal:
		return px_real.cnd_signal((cnd_t *)cond);
	case PX_CALL_cnd_broadcast:
		return px_real.cnd_broadcast((cnd_t *)cond);
	case PX_CALL_pthread_cond_broadcast:
		return px_real.pthread_cond_broadcast(cond);
	default:
		return px_real.pthread_cond_signal(cond);
	}
}

PX_INLINE int traced_signal(struct px_site site, pthread_cond_t *cond)
{
	struct px_hook_sample sample = px_hook_begin();
	int result;

	px_hook_record(site, PX_RECORD_WHOLE, cond, waiters_of(cond), 0, 0);
	result = PX_REAL(&sample, really_signal(site.call, cond));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_cond_signal(pthread_cond_t *cond)
{
	if (PX_NOT_TRACED(cond))
		return px_real.pthread_cond_signal(cond);
	return traced_signal(PX_SITE(pthread_cond_signal, pthread_cond_signal), cond);
}

PX_WRAP int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (PX_NOT_TRACED(cond))
		return px_real.pthread_cond_broadcast(cond);
	return traced_signal(PX_SITE(pthread_cond_broadcast, pthread_cond_broadcast), cond);
}

PX_WRAP int cnd_signal(cnd_t *cond)
{
	if (PX_NOT_TRACED(cond))
		return px_real.cnd_signal(cond);
	return traced_signal(PX_SITE(cnd_signal, cnd_signal), (pthread_cond_t *)cond);
}

PX_WRAP int cnd_broadcast(cnd_t *cond)
{
	if (PX_NOT_TRACED(cond))
		return px_real.cnd_broadcast(cond);
	return traced_signal(PX_SITE(cnd_broadcast, cnd_broadcast), (pthread_cond_t *)cond);
}

PX_WRAP int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(cond))
		return px_real.pthread_cond_init(cond, attr);
	site = PX_SITE(pthread_cond_init, pthread_cond_init);
	result = px_real.pthread_cond_init(cond, attr);
	px_hook_record(site, PX_RECORD_WHOLE, cond, 0, 0, result);
	return result;
}

PX_WRAP int pthread_cond_destroy(pthread_cond_t *cond)
{
	struct px_site site;

	if (PX_NOT_TRACED(cond))
		return px_real.pthread_cond_destroy(cond);
	site = PX_SITE(pthread_cond_destroy, pthread_cond_destroy);
	px_hook_record(site, PX_RECORD_WHOLE, cond, 0, 0, 0);
	return px_real.pthread_cond_destroy(cond);
}

PX_WRAP int cnd_init(cnd_t *cond)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(cond))
		return px_real.cnd_init(cond);
	site = PX_SITE(cnd_init, cnd_init);
	result = px_real.cnd_init(cond);
	px_hook_record(site, PX_RECORD_WHOLE, cond, 0, 0, px_c11_error(result));
	return result;
}

PX_WRAP void cnd_destroy(cnd_t *cond)
{
	struct px_site site = PX_SITE(cnd_destroy, cnd_destroy);

	if (!PX_NOT_TRACED(cond))
		px_hook_record(site, PX_RECORD_WHOLE, cond, 0, 0, 0);
	px_real.cnd_destroy(cond);
}
#endif
