/* SPDX-License-Identifier: MIT */
/*
 * Mutexes.  The wrappers read the owner, and the number of times that the owner holds the mutex, from the C library's
 * own data.  This is cheap.  If the layout of that data is unknown, they record no owner.
 *
 * A wrapper records a lock after the call, with the owner and the count from before the call.  It records an unlock
 * before the call.  So in a trace a mutex never has two owners.  If the C library will refuse an unlock, the mutex
 * stays locked.  The wrapper records such an unlock after the call, with its result.
 *
 * Mutexes of C11 use the same functions.  For them, `result` is the value that the real function returned.
 */
#include "c11.h"
#include "deadline.h"
#include "hook.h"
#include "trace/thread.h"
#include "wrap/mutex.h"

#ifdef __GLIBC__
#define OWNER(mutex) ((uint32_t)px_read_once(&(mutex)->__data.__owner))
#define COUNT(mutex) (px_read_once(&(mutex)->__data.__count))
#define KIND(mutex) (px_read_once(&(mutex)->__data.__kind))
#define LOCK_WORD(mutex) ((uint32_t)px_read_once(&(mutex)->__data.__lock))
#define NR_USERS(mutex) (px_read_once(&(mutex)->__data.__nusers))
#else
#define OWNER(mutex) ((void)(mutex), 0)
#define COUNT(mutex) ((void)(mutex), 0)
#define KIND(mutex) ((void)(mutex), 0)
#define LOCK_WORD(mutex) ((void)(mutex), 0)
#define NR_USERS(mutex) ((void)(mutex), 0)
#endif

/* The bits of the kind: the type, and flags for other attributes. */
#define KIND_TYPE 3
#define KIND_ROBUST 0x10
#define KIND_INHERITS 0x20
#define LOCK_WORD_TID 0x3FFFFFFF
#define LOCK_WORD_DIED 0x40000000

/*
 * For robust and priority-inheriting mutexes, the kernel keeps the owner in the lock word.  For such a mutex, __owner
 * may hold a mark for an inconsistent state instead.
 */
static uint32_t owner_of(const pthread_mutex_t *mutex)
{
	if (KIND(mutex) & (KIND_ROBUST | KIND_INHERITS))
		return LOCK_WORD(mutex) & LOCK_WORD_TID;
	return OWNER(mutex);
}

/* Return how often the owner holds the mutex.  Only a recursive mutex has a count. */
PX_INLINE uint32_t times_held(const pthread_mutex_t *mutex, uint32_t owner)
{
	uint32_t count = COUNT(mutex);

	return owner == 0 ? 0 : count > 0 ? count : 1;
}

static bool is_own(const pthread_mutex_t *mutex)
{
	uint32_t owner = owner_of(mutex);

	return owner != 0 && owner == px_thread_tid();
}

PX_INLINE bool is_acquired(enum px_call call, int result)
{
	return result == 0 || (!px_c11_is(call) && result == EOWNERDEAD);
}

PX_INLINE int really_try(enum px_call call, pthread_mutex_t *mutex)
{
	return px_c11_is(call) ? px_real.mtx_trylock((mtx_t *)mutex) :
				 px_real.pthread_mutex_trylock(mutex);
}

PX_INLINE int really_unlock(enum px_call call, pthread_mutex_t *mutex)
{
	return px_c11_is(call) ? px_real.mtx_unlock((mtx_t *)mutex) :
				 px_real.pthread_mutex_unlock(mutex);
}

static int really_lock(enum px_call call, pthread_mutex_t *mutex, struct px_deadline deadline)
{
	switch (call) {
	case PX_CALL_mtx_lock:
		return px_real.mtx_lock((mtx_t *)mutex);
	case PX_CALL_mtx_timedlock:
		return px_real.mtx_timedlock((mtx_t *)mutex, deadline.time);
	case PX_CALL_pthread_mutex_timedlock:
		return px_real.pthread_mutex_timedlock(mutex, deadline.time);
	case PX_CALL_pthread_mutex_clocklock:
		return px_real.pthread_mutex_clocklock(mutex, deadline.clock, deadline.time);
	default:
		return px_real.pthread_mutex_lock(mutex);
	}
}

/* Record a lock after the call, with the owner and the count from before the call. */
static PX_NOINLINE void record_lock(struct px_site site, pthread_mutex_t *mutex, int result)
{
	uint32_t owner = owner_of(mutex);
	uint32_t count = times_held(mutex, owner);

	if (is_acquired(site.call, result) && --count == 0)
		owner = 0;
	px_hook_record(site, PX_RECORD_WHOLE, mutex, owner, count,
		       px_c11_error_of(site.call, result));
}

static bool has_deadline(enum px_call call)
{
	return call != PX_CALL_pthread_mutex_lock && call != PX_CALL_mtx_lock;
}

/*
 * Return true if the real function will fail without waiting.  It does so if the deadline is invalid.  It also does so
 * if the mutex checks errors and the calling thread holds it.
 */
static bool fails_at_once(enum px_call call, const pthread_mutex_t *mutex,
			  struct px_deadline deadline)
{
	if ((KIND(mutex) & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK && is_own(mutex))
		return true;
	return has_deadline(call) && !px_deadline_is_time(deadline.time);
}

static PX_NOINLINE int lock_blocking(struct px_site site, pthread_mutex_t *mutex,
				     struct px_deadline deadline, struct px_hook_sample *sample)
{
	uint32_t owner = owner_of(mutex);
	int result;

	if (fails_at_once(site.call, mutex, deadline)) {
		result = PX_REAL(sample, really_lock(site.call, mutex, deadline));
		record_lock(site, mutex, result);
		return result;
	}
	px_hook_record(site, PX_RECORD_BEGINS, mutex, owner, times_held(mutex, owner), 0);
	result = PX_REAL(sample, really_lock(site.call, mutex, deadline));
	owner = is_acquired(site.call, result) ? 0 : owner_of(mutex);
	px_hook_record(site, PX_RECORD_ENDS, mutex, owner, times_held(mutex, owner),
		       px_c11_error_of(site.call, result));
	return result;
}

/*
 * Do not try a robust mutex first.  In glibc, a try of a mutex that is not recoverable leaves the lock word set, and
 * the next thread waits forever.  Instead, read from the lock word whether the mutex has an owner.
 */
static PX_NOINLINE int lock_robust(struct px_site site, pthread_mutex_t *mutex,
				   struct px_deadline deadline, struct px_hook_sample *sample)
{
	uint32_t word = LOCK_WORD(mutex);
	bool is_recursive = (KIND(mutex) & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE && is_own(mutex);
	int result;

	if ((word & LOCK_WORD_TID) != 0 && !(word & LOCK_WORD_DIED) && !is_recursive)
		return lock_blocking(site, mutex, deadline, sample);
	result = PX_REAL(sample, really_lock(site.call, mutex, deadline));
	record_lock(site, mutex, result);
	return result;
}

/* If the owner of a recursive mutex has locked it again, the count is above 1. */
PX_INLINE void record_try(struct px_site site, pthread_mutex_t *mutex, int result)
{
	if (px_likely(result == 0) && px_likely(COUNT(mutex) <= 1))
		px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, 0, 0);
	else
		record_lock(site, mutex, result);
}

PX_INLINE int traced_lock(struct px_site site, pthread_mutex_t *mutex, struct px_deadline deadline,
			  struct px_hook_sample *sample)
{
	int result;

	if (!px_c11_is(site.call) && px_unlikely(KIND(mutex) & KIND_ROBUST))
		return lock_robust(site, mutex, deadline, sample);
	result = PX_REAL(sample, really_try(site.call, mutex));
	if (px_unlikely(result == (px_c11_is(site.call) ? thrd_busy : EBUSY)))
		return lock_blocking(site, mutex, deadline, sample);
	record_try(site, mutex, result);
	return result;
}

static PX_NOINLINE int measured_lock(struct px_site site, pthread_mutex_t *mutex,
				     struct px_deadline deadline)
{
	struct px_hook_sample sample = px_hook_measure();
	int result = traced_lock(site, mutex, deadline, &sample);

	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_INLINE int lock_or_measure(struct px_site site, pthread_mutex_t *mutex,
			      struct px_deadline deadline)
{
	if (px_hook_takes_sample())
		return measured_lock(site, mutex, deadline);
	return traced_lock(site, mutex, deadline, NULL);
}

#ifndef PX_TIME64
/*
 * This function is separate from the wrapper, so that the wrapper saves no registers while the process is not traced.
 */
static PX_NOINLINE int traced_mutex_lock(pthread_mutex_t *mutex, void *caller)
{
	struct px_site site = {PX_WRAPPER_pthread_mutex_lock, PX_CALL_pthread_mutex_lock, caller};

	return lock_or_measure(site, mutex, (struct px_deadline){0, NULL});
}

PX_WRAP int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_lock(mutex);
	return traced_mutex_lock(mutex, PX_CALLER);
}
#endif

PX_WRAP int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_timedlock(mutex, time);
	return lock_or_measure(PX_SITE(pthread_mutex_timedlock, pthread_mutex_timedlock), mutex,
			       (struct px_deadline){CLOCK_REALTIME, time});
}

/* The C library refuses all other clocks, in every state of the mutex. */
PX_WRAP int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				    const struct timespec *time)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_clocklock(mutex, clock, time);
	site = PX_SITE(pthread_mutex_clocklock, pthread_mutex_clocklock);
	if (px_deadline_is_clock(clock))
		return lock_or_measure(site, mutex, (struct px_deadline){clock, time});
	result = px_real.pthread_mutex_clocklock(mutex, clock, time);
	record_try(site, mutex, result);
	return result;
}

PX_WRAP int mtx_timedlock(mtx_t *mutex, const struct timespec *time)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.mtx_timedlock(mutex, time);
	return lock_or_measure(PX_SITE(mtx_timedlock, mtx_timedlock), (pthread_mutex_t *)mutex,
			       (struct px_deadline){CLOCK_REALTIME, time});
}

#ifndef PX_TIME64
PX_INLINE int traced_trylock(struct px_site site, pthread_mutex_t *mutex)
{
	struct px_hook_sample sample = px_hook_begin();
	int result = PX_REAL(&sample, really_try(site.call, mutex));

	record_try(site, mutex, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_trylock(mutex);
	return traced_trylock(PX_SITE(pthread_mutex_trylock, pthread_mutex_trylock), mutex);
}

/* Only some kinds of mutexes refuse an unlock by another thread: those that store their owner. */
bool px_mutex_is_refused(const pthread_mutex_t *mutex)
{
	int kind = KIND(mutex), type = kind & KIND_TYPE;

	return ((kind & (KIND_ROBUST | KIND_INHERITS)) || type == PTHREAD_MUTEX_RECURSIVE ||
		type == PTHREAD_MUTEX_ERRORCHECK) &&
	       !is_own(mutex);
}

/*
 * Unlock a mutex whose __owner is not the known tid of this thread.  This has three possible causes: another thread is
 * the owner, __owner does not store the owner, or this thread has not recorded an event yet.
 */
static PX_NOINLINE int unlock_slow(struct px_site site, pthread_mutex_t *mutex)
{
	uint32_t owner = owner_of(mutex);
	uint32_t count = times_held(mutex, owner);
	int result;

	if (!px_mutex_is_refused(mutex)) {
		px_hook_record(site, PX_RECORD_WHOLE, mutex, owner, count, 0);
		return really_unlock(site.call, mutex);
	}
	result = really_unlock(site.call, mutex);
	px_hook_record(site, PX_RECORD_WHOLE, mutex, owner, count,
		       px_c11_error_of(site.call, result));
	return result;
}

PX_INLINE int traced_unlock(struct px_site site, pthread_mutex_t *mutex,
			    struct px_hook_sample *sample)
{
	uint32_t owner = OWNER(mutex);

	if (px_unlikely(owner != px_thread.tid))
		return PX_REAL(sample, unlock_slow(site, mutex));
	px_hook_record(site, PX_RECORD_WHOLE, mutex, owner, times_held(mutex, owner), 0);
	return PX_REAL(sample, really_unlock(site.call, mutex));
}

static PX_NOINLINE int measured_unlock(struct px_site site, pthread_mutex_t *mutex)
{
	struct px_hook_sample sample = px_hook_measure();
	int result = traced_unlock(site, mutex, &sample);

	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_INLINE int unlock_or_measure(struct px_site site, pthread_mutex_t *mutex)
{
	if (px_hook_takes_sample())
		return measured_unlock(site, mutex);
	return traced_unlock(site, mutex, NULL);
}

static PX_NOINLINE int traced_mutex_unlock(pthread_mutex_t *mutex, void *caller)
{
	struct px_site site = {PX_WRAPPER_pthread_mutex_unlock, PX_CALL_pthread_mutex_unlock,
			       caller};

	return unlock_or_measure(site, mutex);
}

PX_WRAP int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_unlock(mutex);
	return traced_mutex_unlock(mutex, PX_CALLER);
}

PX_WRAP int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	struct px_site site;
	int protocol = PTHREAD_PRIO_NONE, type = PTHREAD_MUTEX_DEFAULT;
	int result = 0;

	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_init(mutex, attr);
	site = PX_SITE(pthread_mutex_init, pthread_mutex_init);
	result = px_real.pthread_mutex_init(mutex, attr);
	if (result == 0 && attr) {
		pthread_mutexattr_getprotocol(attr, &protocol);
		pthread_mutexattr_gettype(attr, &type);
	}
	px_hook_record(site, PX_RECORD_WHOLE, mutex, protocol == PTHREAD_PRIO_INHERIT,
		       (uint32_t)type, result);
	return result;
}

/* As long as the mutex has an owner, the C library refuses this call, unless the mutex is robust. */
PX_WRAP int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(mutex))
		return px_real.pthread_mutex_destroy(mutex);
	site = PX_SITE(pthread_mutex_destroy, pthread_mutex_destroy);
	if (NR_USERS(mutex) == 0 || (KIND(mutex) & KIND_ROBUST)) {
		px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, 0, 0);
		return px_real.pthread_mutex_destroy(mutex);
	}
	result = px_real.pthread_mutex_destroy(mutex);
	px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, 0, result);
	return result;
}

/* Mutexes of C11. */

static PX_NOINLINE int traced_mtx_lock(mtx_t *mutex, void *caller)
{
	struct px_site site = {PX_WRAPPER_mtx_lock, PX_CALL_mtx_lock, caller};

	return lock_or_measure(site, (pthread_mutex_t *)mutex, (struct px_deadline){0, NULL});
}

PX_WRAP int mtx_lock(mtx_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.mtx_lock(mutex);
	return traced_mtx_lock(mutex, PX_CALLER);
}

PX_WRAP int mtx_trylock(mtx_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.mtx_trylock(mutex);
	return traced_trylock(PX_SITE(mtx_trylock, mtx_trylock), (pthread_mutex_t *)mutex);
}

static PX_NOINLINE int traced_mtx_unlock(mtx_t *mutex, void *caller)
{
	struct px_site site = {PX_WRAPPER_mtx_unlock, PX_CALL_mtx_unlock, caller};

	return unlock_or_measure(site, (pthread_mutex_t *)mutex);
}

PX_WRAP int mtx_unlock(mtx_t *mutex)
{
	if (PX_NOT_TRACED(mutex))
		return px_real.mtx_unlock(mutex);
	return traced_mtx_unlock(mutex, PX_CALLER);
}

PX_WRAP int mtx_init(mtx_t *mutex, int type)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(mutex))
		return px_real.mtx_init(mutex, type);
	site = PX_SITE(mtx_init, mtx_init);
	result = px_real.mtx_init(mutex, type);
	px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, (uint32_t)type, px_c11_error(result));
	return result;
}

PX_WRAP void mtx_destroy(mtx_t *mutex)
{
	struct px_site site = PX_SITE(mtx_destroy, mtx_destroy);

	if (!PX_NOT_TRACED(mutex))
		px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, 0, 0);
	px_real.mtx_destroy(mutex);
}

/*
 * Events without a wrapper: inside a wait, the C library unlocks and locks the mutex.  They have their own event types,
 * because the program made no such calls.
 */
void px_mutex_record_unlock(const pthread_mutex_t *mutex, void *caller)
{
	struct px_site site = PX_SITE_WITHOUT_WRAPPER(INNER_UNLOCK, txtrace_mutex_unlock, caller);
	uint32_t owner = owner_of(mutex);

	if (px_hook_is_on(PX_GROUP_mutex))
		px_hook_record(site, PX_RECORD_WHOLE, mutex, owner, times_held(mutex, owner), 0);
}

void px_mutex_record_lock(const pthread_mutex_t *mutex, int error, void *caller)
{
	struct px_site site = PX_SITE_WITHOUT_WRAPPER(INNER_LOCK, txtrace_mutex_lock, caller);

	if (px_hook_is_on(PX_GROUP_mutex))
		px_hook_record(site, PX_RECORD_WHOLE, mutex, 0, 0, error);
}
#endif
