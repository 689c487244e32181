/* SPDX-License-Identifier: MIT */
/*
 * Spin locks.  A thread that waits for a spin lock keeps its CPU.  So a lock is a single event, with the time that the
 * thread spent spinning.  A wrapper records a lock after the call, and an unlock before the call.
 */
#include "base/clock.h"
#include "hook.h"

static uint32_t waited_ns(uint64_t since_ns)
{
	uint64_t ns = px_clock_monotonic_ns() - since_ns;

	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

PX_WRAP int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct px_site site;
	struct px_hook_sample sample;
	uint32_t waited = 0;
	uint64_t since;
	int result;

	if (PX_NOT_TRACED(spin))
		return px_real.pthread_spin_lock(lock);
	site = PX_SITE(pthread_spin_lock, pthread_spin_lock);
	sample = px_hook_begin();
	result = PX_REAL(&sample, px_real.pthread_spin_trylock(lock));
	if (px_unlikely(result != 0)) {
		since = px_clock_monotonic_ns();
		result = PX_REAL(&sample, px_real.pthread_spin_lock(lock));
		waited = waited_ns(since);
	}
	px_hook_record(site, PX_RECORD_WHOLE, lock, waited, 0, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(spin))
		return px_real.pthread_spin_trylock(lock);
	site = PX_SITE(pthread_spin_trylock, pthread_spin_trylock);
	sample = px_hook_begin();
	result = PX_REAL(&sample, px_real.pthread_spin_trylock(lock));
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(spin))
		return px_real.pthread_spin_unlock(lock);
	site = PX_SITE(pthread_spin_unlock, pthread_spin_unlock);
	sample = px_hook_begin();
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, 0);
	result = PX_REAL(&sample, px_real.pthread_spin_unlock(lock));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(spin))
		return px_real.pthread_spin_init(lock, shared);
	site = PX_SITE(pthread_spin_init, pthread_spin_init);
	result = px_real.pthread_spin_init(lock, shared);
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, result);
	return result;
}

PX_WRAP int pthread_spin_destroy(pthread_spinlock_t *lock)
{
	struct px_site site;

	if (PX_NOT_TRACED(spin))
		return px_real.pthread_spin_destroy(lock);
	site = PX_SITE(pthread_spin_destroy, pthread_spin_destroy);
	px_hook_record(site, PX_RECORD_WHOLE, lock, 0, 0, 0);
	return px_real.pthread_spin_destroy(lock);
}
