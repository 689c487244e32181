/* SPDX-License-Identifier: MIT */
/*
 * Read-write locks.  The wrappers read the writer and the number of readers from the C library's own data.  If the
 * layout of that data is unknown, they record 0.
 *
 * A wrapper records a lock after the call, with the state from before the call.  It records an unlock before the call.
 */
#include "deadline.h"
#include "hook.h"
#include "trace/thread.h"

struct holders {
	uint32_t writer; /* tid of the writer; 0: there is none */
	uint32_t nr_readers;
};

PX_INLINE struct holders holders_of(const pthread_rwlock_t *lock)
{
	struct holders holders = {0, 0};

#ifdef __GLIBC__
	/* The low bits hold the phase, and a flag for waiting writers. */
	holders.writer = (uint32_t)px_read_once(&lock->__data.__cur_writer);
	holders.nr_readers = px_read_once(&lock->__data.__readers) >> 3;
#else
	(void)lock;
#endif
	return holders;
}

PX_INLINE bool is_of_reader(enum px_call call)
{
	return call == PX_CALL_pthread_rwlock_rdlock || call == PX_CALL_pthread_rwlock_tryrdlock ||
	       call == PX_CALL_pthread_rwlock_timedrdlock ||
	       call == PX_CALL_pthread_rwlock_clockrdlock;
}

PX_INLINE bool has_deadline(enum px_call call)
{
	return call != PX_CALL_pthread_rwlock_rdlock && call != PX_CALL_pthread_rwlock_wrlock;
}

PX_INLINE int try_lock(enum px_call call, pthread_rwlock_t *lock)
{
	return is_of_reader(call) ? px_real.pthread_rwlock_tryrdlock(lock) :
				    px_real.pthread_rwlock_trywrlock(lock);
}

static int really_lock(enum px_call call, pthread_rwlock_t *lock, struct px_deadline deadline)
{
	switch (call) {
	case PX_CALL_pthread_rwlock_rdlock:
		return px_real.pthread_rwlock_rdlock(lock);
	case PX_CALL_pthread_rwlock_timedrdlock:
		return px_real.pthread_rwlock_timedrdlock(lock, deadline.time);
	case PX_CALL_pthread_rwlock_clockrdlock:
		return px_real.pthread_rwlock_clockrdlock(lock, deadline.clock, deadline.time);
	case PX_CALL_pthread_rwlock_timedwrlock:
		return px_real.pthread_rwlock_timedwrlock(lock, deadline.time);
	case PX_CALL_pthread_rwlock_clockwrlock:
		return px_real.pthread_rwlock_clockwrlock(lock, deadline.clock, deadline.time);
	default:
		return px_real.pthread_rwlock_wrlock(lock);
	}
}

PX_INLINE void record(struct px_site site, uint32_t flags, const pthread_rwlock_t *lock,
		      struct holders holders, int result)
{
	px_hook_record(site, flags, lock, holders.writer, holders.nr_readers, result);
}

/* In two cases the C library refuses the call at once: the writer locks again, or the deadline is invalid. */
static PX_NOINLINE int lock_blocking(struct px_site site, pthread_rwlock_t *lock,
				     struct px_deadline deadline, struct px_hook_sample *sample)
{
	struct holders holders = holders_of(lock);
	bool is_refused = holders.writer != 0 && holders.writer == px_thread_tid();
	int result;

	is_refused |= has_deadline(site.call) && !px_deadline_is_valid(deadline);
	if (!is_refused)
		record(site, PX_RECORD_BEGINS, lock, holders, 0);
	result = PX_REAL(sample, really_lock(site.call, lock, deadline));
	if (is_refused)
		record(site, PX_RECORD_WHOLE, lock, holders, result);
	else
		record(site, PX_RECORD_ENDS, lock,
		       result ? holders_of(lock) : (struct holders){0, 0}, result);
	return result;
}

PX_INLINE int traced_lock(struct px_site site, pthread_rwlock_t *lock, struct px_deadline deadline)
{
	struct px_hook_sample sample = px_hook_begin();
	struct holders holders = holders_of(lock);
	int result = EBUSY;

	if (!has_deadline(site.call) || px_deadline_is_valid(deadline))
		result = PX_REAL(&sample, try_lock(site.call, lock));
	if (px_likely(result != EBUSY))
		record(site, PX_RECORD_WHOLE, lock, holders, result);
	else
		result = lock_blocking(site, lock, deadline, &sample);
	px_hook_end(&sample, site.wrapper);
	return result;
}

#ifndef PX_TIME64
PX_INLINE int traced_try(struct px_site site, pthread_rwlock_t *lock)
{
	struct px_hook_sample sample = px_hook_begin();
	struct holders holders = holders_of(lock);
	int result = PX_REAL(&sample, try_lock(site.call, lock));

	record(site, PX_RECORD_WHOLE, lock, result ? holders_of(lock) : holders, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_rdlock(lock);
	return traced_lock(PX_SITE(pthread_rwlock_rdlock, pthread_rwlock_rdlock), lock,
			   (struct px_deadline){0, NULL});
}
#endif

PX_WRAP int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *time)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_timedrdlock(lock, time);
	return traced_lock(PX_SITE(pthread_rwlock_timedrdlock, pthread_rwlock_timedrdlock), lock,
			   (struct px_deadline){CLOCK_REALTIME, time});
}

PX_WRAP int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
				       const struct timespec *time)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_clockrdlock(lock, clock, time);
	return traced_lock(PX_SITE(pthread_rwlock_clockrdlock, pthread_rwlock_clockrdlock), lock,
			   (struct px_deadline){clock, time});
}

#ifndef PX_TIME64
PX_WRAP int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_tryrdlock(lock);
	return traced_try(PX_SITE(pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock), lock);
}

PX_WRAP int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_wrlock(lock);
	return traced_lock(PX_SITE(pthread_rwlock_wrlock, pthread_rwlock_wrlock), lock,
			   (struct px_deadline){0, NULL});
}
#endif

PX_WRAP int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *time)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_timedwrlock(lock, time);
	return traced_lock(PX_SITE(pthread_rwlock_timedwrlock, pthread_rwlock_timedwrlock), lock,
			   (struct px_deadline){CLOCK_REALTIME, time});
}

PX_WRAP int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
				       const struct timespec *time)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_clockwrlock(lock, clock, time);
	return traced_lock(PX_SITE(pthread_rwlock_clockwrlock, pthread_rwlock_clockwrlock), lock,
			   (struct px_deadline){clock, time});
}

#ifndef PX_TIME64
PX_WRAP int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_trywrlock(lock);
	return traced_try(PX_SITE(pthread_rwlock_trywrlock, pthread_rwlock_trywrlock), lock);
}

PX_WRAP int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_unlock(lock);
	site = PX_SITE(pthread_rwlock_unlock, pthread_rwlock_unlock);
	sample = px_hook_begin();
	record(site, PX_RECORD_WHOLE, lock, holders_of(lock), 0);
	result = PX_REAL(&sample, px_real.pthread_rwlock_unlock(lock));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_init(lock, attr);
	site = PX_SITE(pthread_rwlock_init, pthread_rwlock_init);
	result = px_real.pthread_rwlock_init(lock, attr);
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, result);
	return result;
}

PX_WRAP int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	struct px_site site;

	if (PX_NOT_TRACED(rwlock))
		return px_real.pthread_rwlock_destroy(lock);
	site = PX_SITE(pthread_rwlock_destroy, pthread_rwlock_destroy);
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, 0);
	return px_real.pthread_rwlock_destroy(lock);
}
#endif
