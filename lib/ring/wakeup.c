/* SPDX-License-Identifier: MIT */
#include "ring/wakeup.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confined.h"
#include "base/futex_waitv.h"
#include "base/kernel_time.h"
#include "base/membarrier.h"

#define ROUND_NS 50000000

/* 1: membarrier has failed once.  Then a writer may miss the flag, so sleep in rounds. */
static uint32_t in_rounds;

void px_wakeup_prepare(uint32_t *flag, enum px_waiting what)
{
	(void)px_exchange(flag, (uint32_t)what);
	/* The constructor has already registered the process.  To register it again costs little. */
	if (!px_membarrier_register() || !px_membarrier_all()) {
		px_write_once(&in_rounds, 1);
		px_full_fence();
	}
	/* EDGE wake release: the barrier above replaces the barrier that writers do not have */
}

/*
 * futex_waitv is the only wait with a time limit that the kernel restarts after a handler with SA_RESTART.  It can do
 * so because the limit is an absolute time.
 */
static long wait_on_vector(uint32_t *flag, const struct px_kernel_time *until)
{
	struct px_futex_waiter waiter = {
		.value = PX_WAITING_EVENT, .address = (uint64_t)(uintptr_t)flag, .flags = PX_FUTEX_32};

	return syscall(SYS_futex_waitv, &waiter, 1, 0, until, CLOCK_REALTIME);
}

/* Old kernels do not have futex_waitv, and system call filters may refuse it with any error. */
static bool is_refusal(int error)
{
	return error != EAGAIN && error != EINTR && error != ETIMEDOUT;
}

static long wait_on(uint32_t *flag, const struct px_kernel_time *until)
{
	long result = wait_on_vector(flag, until);

	if (result == -1 && is_refusal(errno))
		result = syscall(PX_SYS_FUTEX, flag, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME,
				 PX_WAITING_EVENT, until, NULL, FUTEX_BITSET_MATCH_ANY);
	return result;
}

int px_wakeup_check(void)
{
	uint32_t cleared = PX_WAITING_NOBODY;
	int saved_errno = errno, error = 0;

	if (wait_on_vector(&cleared, NULL) == -1 && is_refusal(errno)) {
		error = errno;
		wait_on(&cleared, NULL);
	}
	errno = saved_errno;
	return error;
}

/*
 * A cancellation takes effect at once: while this thread waits, it holds no lock and has taken no event.  A
 * cancellation that was already pending takes effect before the wait.
 */
static int cancellable(long (*call)(uint32_t *, const struct px_kernel_time *), uint32_t *flag,
		       const struct px_kernel_time *until)
{
	int saved_errno = errno;
	int error, type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	error = call(flag, until) == -1 ? errno : 0;
	pthread_setcanceltype(type, &type);
	errno = saved_errno;
	return error;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

int px_wakeup_sleep(uint32_t *flag, const struct timespec *deadline)
{
	uint64_t now = px_clock_realtime_ns();
	struct timespec now_timespec = px_clock_timespec(now);
	struct timespec round = px_clock_timespec(now + ROUND_NS);
	struct px_kernel_time until;
	int error;

	if (deadline && !is_before(&now_timespec, deadline))
		return ETIMEDOUT;
	if (px_read_once(&in_rounds) && (!deadline || is_before(&round, deadline)))
		deadline = &round;
	if (deadline)
		until = px_kernel_time(*deadline);
	PX_TESTPOINT("wait.sleep.begin");
	error = cancellable(wait_on, flag, deadline ? &until : NULL);
	return error == EINTR ? EINTR : 0;
}

static long pause_until(uint32_t *unused, const struct px_kernel_time *length)
{
	(void)unused;
	return px_kernel_sleep(length);
}

void px_wakeup_pause(uint64_t ns)
{
	struct px_kernel_time length = px_kernel_time(px_clock_timespec(ns));

	cancellable(pause_until, NULL, &length);
}

void px_wakeup_doze(uint32_t *flag, enum px_waiting what, uint64_t ns)
{
	struct px_kernel_time length = px_kernel_time(px_clock_timespec(ns));
	int saved_errno = errno;

	syscall(PX_SYS_FUTEX, flag, FUTEX_WAIT, what, &length, NULL, 0);
	errno = saved_errno;
}

void px_wakeup_wake(uint32_t *flag)
{
	int saved_errno = errno;

	if (px_unlikely(px_is_confined()))
		return;
	/* One system call clears the flag and wakes up the sleepers (wakeup.h). */
	if (syscall(PX_SYS_FUTEX, flag, FUTEX_WAKE_OP, INT32_MAX, 0L, flag,
		    FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_LT, 0)) == -1) {
		px_exchange(flag, 0);
		syscall(PX_SYS_FUTEX, flag, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	}
	errno = saved_errno;
}
