/* SPDX-License-Identifier: MIT */
/*
 * Semaphores.  If a wait does not block, the wrapper records it after the call, with the value from before the call.  A
 * wrapper records a post before the call, unless the C library will refuse the post.  The wrappers read the value
 * without a system call, and other threads may change the value at the same time.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>

#include "deadline.h"
#include "hook.h"
#include "wrap/text_arg.h"

static uint32_t value_of(sem_t *sem)
{
	int value = 0;

	sem_getvalue(sem, &value);
	return value < 0 ? 0 : (uint32_t)value;
}

static int really_wait(enum px_call call, sem_t *sem, struct px_deadline deadline)
{
	switch (call) {
	case PX_CALL_sem_timedwait:
		return px_real.sem_timedwait(sem, deadline.time);
	case PX_CALL_sem_clockwait:
		return px_real.sem_clockwait(sem, deadline.clock, deadline.time);
	default:
		return px_real.sem_wait(sem);
	}
}

/*
 * Try to decrement the semaphore without waiting.  Return true if this succeeds.  A call that waits is a cancellation
 * point even if it need not wait.  The only exception is sem_clockwait() of glibc.
 */
static bool try_wait(enum px_call call, sem_t *sem, struct px_hook_sample *sample)
{
	int saved_errno = errno;

	if (call != PX_CALL_sem_clockwait)
		pthread_testcancel();
	if (px_likely(PX_REAL(sample, px_real.sem_trywait(sem)) == 0))
		return true;
	errno = saved_errno;
	return false;
}

static int traced_wait(struct px_site site, sem_t *sem, struct px_deadline deadline)
{
	struct px_hook_sample sample = px_hook_begin();
	bool is_valid = site.call == PX_CALL_sem_wait || px_deadline_is_valid(deadline);
	uint32_t value = value_of(sem);
	int result = 0;

	if (is_valid && px_likely(try_wait(site.call, sem, &sample))) {
		px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, 0);
	} else {
		if (is_valid)
			px_hook_record(site, PX_RECORD_BEGINS, sem, value, 0, 0);
		result = PX_REAL(&sample, really_wait(site.call, sem, deadline));
		px_hook_record(site, is_valid ? PX_RECORD_ENDS : PX_RECORD_WHOLE, sem,
			       value_of(sem), 0, result ? errno : 0);
	}
	px_hook_end(&sample, site.wrapper);
	return result;
}

#ifndef PX_TIME64
PX_WRAP int sem_wait(sem_t *sem)
{
	if (PX_NOT_TRACED(sem))
		return px_real.sem_wait(sem);
	return traced_wait(PX_SITE(sem_wait, sem_wait), sem, (struct px_deadline){0, NULL});
}
#endif

PX_WRAP int sem_timedwait(sem_t *sem, const struct timespec *time)
{
	if (PX_NOT_TRACED(sem))
		return px_real.sem_timedwait(sem, time);
	return traced_wait(PX_SITE(sem_timedwait, sem_timedwait), sem,
			   (struct px_deadline){CLOCK_REALTIME, time});
}

PX_WRAP int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *time)
{
	if (PX_NOT_TRACED(sem))
		return px_real.sem_clockwait(sem, clock, time);
	return traced_wait(PX_SITE(sem_clockwait, sem_clockwait), sem,
			   (struct px_deadline){clock, time});
}

#ifndef PX_TIME64
PX_WRAP int sem_trywait(sem_t *sem)
{
	struct px_site site;
	struct px_hook_sample sample;
	uint32_t value;
	int result;

	if (PX_NOT_TRACED(sem))
		return px_real.sem_trywait(sem);
	site = PX_SITE(sem_trywait, sem_trywait);
	sample = px_hook_begin();
	value = value_of(sem);
	result = PX_REAL(&sample, px_real.sem_trywait(sem));
	px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, result ? errno : 0);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int sem_post(sem_t *sem)
{
	struct px_site site;
	struct px_hook_sample sample;
	uint32_t value;
	int result;

	if (PX_NOT_TRACED(sem))
		return px_real.sem_post(sem);
	site = PX_SITE(sem_post, sem_post);
	sample = px_hook_begin();
	value = value_of(sem);
	if (px_likely(value != SEM_VALUE_MAX))
		px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, 0);
	result = PX_REAL(&sample, px_real.sem_post(sem));
	if (px_unlikely(value == SEM_VALUE_MAX))
		px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, result ? errno : 0);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int sem_init(sem_t *sem, int shared, unsigned int value)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(sem))
		return px_real.sem_init(sem, shared, value);
	site = PX_SITE(sem_init, sem_init);
	result = px_real.sem_init(sem, shared, value);
	px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, result ? errno : 0);
	return result;
}

PX_WRAP int sem_destroy(sem_t *sem)
{
	struct px_site site;

	if (PX_NOT_TRACED(sem))
		return px_real.sem_destroy(sem);
	site = PX_SITE(sem_destroy, sem_destroy);
	px_hook_record(site, PX_RECORD_WHOLE, sem, 0, 0, 0);
	return px_real.sem_destroy(sem);
}

/* Record the name after the data.  The real function has read the name, so the name is readable. */
static void record_open(struct px_site site, const char *name, sem_t *sem)
{
	struct px_text_arg arg = {.data.of_object = {.result = (int16_t)errno}};

	if (sem != SEM_FAILED)
		arg.data.of_object = (__typeof__(arg.data.of_object)){
			.object = (uint64_t)(uintptr_t)sem, .value = value_of(sem)};
	px_text_arg_record(site, PX_RECORD_WHOLE, &arg, name);
}

PX_WRAP sem_t *sem_open(const char *name, int flags, ...)
{
	struct px_site site = PX_SITE(sem_open, sem_open);
	bool is_traced = !PX_NOT_TRACED(sem);
	unsigned int value = 0;
	mode_t mode = 0;
	va_list list;
	sem_t *sem;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		value = va_arg(list, unsigned int);
		va_end(list);
	}
	sem = px_real.sem_open(name, flags, mode, value);
	if (is_traced)
		record_open(site, name, sem);
	return sem;
}

/*
 * Record before the call, because another semaphore may get the same address at once.  If the call fails, a second
 * event has the result.
 */
PX_WRAP int sem_close(sem_t *sem)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(sem))
		return px_real.sem_close(sem);
	site = PX_SITE(sem_close, sem_close);
	px_hook_record(site, PX_RECORD_WHOLE, sem, 0, 0, 0);
	result = px_real.sem_close(sem);
	if (result != 0)
		px_hook_record(site, PX_RECORD_WHOLE, sem, 0, 0, errno);
	return result;
}
#endif
