/* SPDX-License-Identifier: MIT */
/*
 * A wrapper does not try a futex first: only the kernel can compare the futex and put the thread to sleep in one step.
 * So a call that may sleep always has two events.  A call that wakes up threads is recorded before it takes effect.
 */
#include "wrap/futex.h"

#include <linux/futex.h>

#include "base/futex_waitv.h"
#include "hook.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

typedef long system_call(long number, ...);

static system_call *real_syscall(void)
{
	system_call *real;

	if (px_unlikely(!px_hook_real_syscall))
		px_hook_prepare();
	*(void **)&real = px_hook_real_syscall;
	return real;
}

enum effect { NEITHER, WAITS, WAKES };

static enum effect effect_of(unsigned long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return WAITS;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_UNLOCK_PI:
		return WAKES;
	default:
		return NEITHER;
	}
}

/* A system call in progress. */
struct request {
	struct px_site site;
	long number;
	unsigned long argument[6];
};

static long really_call(const struct request *request)
{
	const unsigned long *argument = request->argument;

	return real_syscall()(request->number, argument[0], argument[1], argument[2], argument[3],
			      argument[4], argument[5]);
}

static long traced_wait(const struct request *request, unsigned long value, unsigned long operation)
{
	const void *object = (const void *)request->argument[0];
	long result;

	px_hook_record(request->site, PX_RECORD_BEGINS, object, (uint32_t)value,
		       (uint32_t)operation, 0);
	result = really_call(request);
	px_hook_record(request->site, PX_RECORD_ENDS, object, (uint32_t)value, (uint32_t)operation,
		       result < 0 ? errno : 0);
	return result;
}

static long traced_futex(struct request *request, void *caller)
{
	unsigned long operation = request->argument[1], value = request->argument[2];

	switch (effect_of(operation)) {
	case WAITS:
		request->site = PX_SITE_WITHOUT_WRAPPER(FUTEX_WAIT, futex_wait, caller);
		return traced_wait(request, value, operation);
	case WAKES:
		request->site = PX_SITE_WITHOUT_WRAPPER(FUTEX_WAKE, futex_wake, caller);
		px_hook_record(request->site, PX_RECORD_WHOLE, (void *)request->argument[0],
			       (uint32_t)value, (uint32_t)operation, 0);
		break;
	default:
		break;
	}
	return really_call(request);
}

static long traced_futex_waitv(struct request *request, void *caller)
{
	request->site = PX_SITE_WITHOUT_WRAPPER(FUTEX_WAITV, futex_waitv, caller);
	return traced_wait(request, request->argument[1], 0);
}

/* The third argument is the number of completions to wait for.  Without one, the call only submits requests. */
static long traced_io_uring_enter(struct request *request, void *caller)
{
	unsigned long wait_for = request->argument[2];
	uint32_t flags = wait_for > 0 ? PX_RECORD_ENDS : PX_RECORD_WHOLE;
	int fd = (int)request->argument[0];
	long result;

	request->site = PX_SITE_WITHOUT_WRAPPER(IO_URING_ENTER, io_uring_enter, caller);
	if (wait_for > 0)
		px_hook_record_fd(request->site, PX_RECORD_BEGINS, fd, (uint32_t)wait_for, 0);
	result = really_call(request);
	px_hook_record_fd(request->site, flags, fd, (uint32_t)wait_for,
			  result < 0 ? -(int64_t)errno : result);
	return result;
}

/* The second argument is the least number of events to wait for, and the third the most. */
static long traced_io_getevents(struct request *request, void *caller)
{
	long least = (long)request->argument[1], most = (long)request->argument[2];
	uint32_t flags = least > 0 ? PX_RECORD_ENDS : PX_RECORD_WHOLE;
	long result;

	request->site = PX_SITE_WITHOUT_WRAPPER(IO_GETEVENTS, io_getevents, caller);
	if (least > 0)
		px_hook_record_fd(request->site, PX_RECORD_BEGINS, (int)least, (uint32_t)most, 0);
	result = really_call(request);
	px_hook_record_fd(request->site, flags, (int)least, (uint32_t)most, result < 0 ? -(int64_t)errno : result);
	return result;
}

long px_syscall_that_waits(long number, unsigned long a, unsigned long b, unsigned long c,
			   unsigned long d, unsigned long e, unsigned long f)
{
	struct request request;

	bool is_futex = number == SYS_futex || number == SYS_futex_waitv;

	if (is_futex ? PX_NOT_TRACED(futex) : PX_NOT_TRACED(poll))
		return real_syscall()(number, a, b, c, d, e, f);
	request = (struct request){.number = number, .argument = {a, b, c, d, e, f}};
	if (number == SYS_futex)
		return traced_futex(&request, PX_CALLER);
	if (number == SYS_futex_waitv)
		return traced_futex_waitv(&request, PX_CALLER);
	if (number == SYS_io_uring_enter)
		return traced_io_uring_enter(&request, PX_CALLER);
	return traced_io_getevents(&request, PX_CALLER);
}
