/* SPDX-License-Identifier: MIT */
/* Which mechanisms of the kernel the library uses in this process, and what they cost. */
#include "config.h"

#include "api/api.h"

#include <pthread.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/membarrier.h"
#include "base/procfs.h"
#include "registry/shared_names.h"
#include "ring/cpuring.h"
#include "ring/wakeup.h"
#include "sched/sched.h"
#include "stream/own_rings.h"
#include "trace/process.h"
#include "trace/unwind_memory.h"

#define ROUNDS 5
#define COUNTER_READS 1000

/* The area alone is not enough: the kernel must restart sequences, too. */
static int try_rseq(void)
{
	int error = px_cpu_area_check();

	if (error)
		return error;
	switch (px_own_rings_obstacle(px_clock_best().source)) {
	case TXTRACE_RINGS_NOT_RESTARTED:
		return ENOTRECOVERABLE;
	case TXTRACE_RINGS_NOT_TESTED:
		return EAGAIN;
	default:
		return 0; /* what else is missing has a line of its own */
	}
}

/* Without membarrier, this takes as long as a thread that stops a stream waits. */
static int try_membarrier(void)
{
	int error = px_membarrier_check();

	if (error)
		px_membarrier_settle();
	return error;
}

static int try_counter(void)
{
	struct px_clock clock = px_clock_best();

	return clock.source == PX_CLOCK_HARDWARE ? 0 : ENOTSUP;
}

static int try_sched(void)
{
	struct px_sched *sched = NULL;
	int error = px_sched_open((uint32_t)getpid(), false, &sched);

	px_sched_close(sched);
	return error;
}

static int (*const tries[TXTRACE_MECHANISMS])(void) = {
	[TXTRACE_MECHANISM_RSEQ] = try_rseq,
	[TXTRACE_MECHANISM_MEMBARRIER] = try_membarrier,
	[TXTRACE_MECHANISM_COUNTER] = try_counter,
	[TXTRACE_MECHANISM_FUTEX_WAITV] = px_wakeup_check,
	[TXTRACE_MECHANISM_SYSV] = px_shared_names_check,
	[TXTRACE_MECHANISM_PROC] = px_procfs_check,
	[TXTRACE_MECHANISM_VM_READ] = px_unwind_check,
	[TXTRACE_MECHANISM_SCHED] = try_sched,
};

/* The shortest of some rounds is the one that nothing disturbed. */
static double cost_of(int (*try)(void))
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin = px_clock_monotonic_ns();

		try();
		begin = px_clock_monotonic_ns() - begin;
		if (begin < least)
			least = begin;
	}
	return (double)least;
}

static double cost_of_counter(void)
{
	enum px_clock_source source = px_clock_best().source;
	uint64_t begin = px_clock_monotonic_ns();

	for (int i = 0; i < COUNTER_READS; i++)
		px_clock_read(source);
	return (double)(px_clock_monotonic_ns() - begin) / COUNTER_READS;
}

PX_EXPORT int txtrace_check_mechanism(enum txtrace_mechanism_kind kind, struct txtrace_mechanism *mechanism)
{
	int saved_errno = errno, error, state;

	if ((unsigned int)kind >= TXTRACE_MECHANISMS || !mechanism)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error) {
		*mechanism = (struct txtrace_mechanism){.error = tries[kind]()};
		if (kind == TXTRACE_MECHANISM_COUNTER)
			mechanism->cost_ns = cost_of_counter();
		else if (kind != TXTRACE_MECHANISM_RSEQ)
			mechanism->cost_ns = cost_of(tries[kind]);
	}
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}
