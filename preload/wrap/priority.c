/* SPDX-License-Identifier: MIT */
/* Priorities of threads and processes, and scheduling policies. */
#include "wrap/priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hook.h"

static uint32_t own_nice_priority(void)
{
	if (px_is_confined())
		return PX_PRIORITY_NORMAL;
	/* Compute the priority in the same way as lib/trace/thread.c. */
	return (uint32_t)(140 - syscall(SYS_getpriority, PRIO_PROCESS, 0));
}

uint32_t px_kernel_priority(int policy, int priority, bool is_self)
{
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return (uint32_t)(99 - priority);
	return is_self ? own_nice_priority() : PX_PRIORITY_NORMAL;
}

static uint32_t priority_of(pthread_t thread, int *policy)
{
	struct sched_param param = {0};

	*policy = SCHED_OTHER;
	if (pthread_getschedparam(thread, policy, &param) != 0)
		return PX_PRIORITY_NORMAL;
	return px_kernel_priority(*policy, param.sched_priority,
			       pthread_equal(thread, pthread_self()));
}

static void record_priority(struct px_site site, pthread_t thread, const uint32_t priority[2],
			    int result)
{
	int saved_errno = errno;

	if (result == 0 && pthread_equal(thread, pthread_self()))
		px_thread_renew();
	px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, priority[1], priority[0], result);
	errno = saved_errno;
}

PX_WRAP int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	struct px_site site;
	struct px_hook_sample sample;
	uint32_t priority[2];
	int result, old;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_setschedparam(thread, policy, param);
	site = PX_SITE(pthread_setschedparam, pthread_setschedparam);
	sample = px_hook_begin();
	priority[0] = priority_of(thread, &old);
	result = PX_REAL(&sample, px_real.pthread_setschedparam(thread, policy, param));
	priority[1] = px_kernel_priority(policy, param->sched_priority,
				      pthread_equal(thread, pthread_self()));
	record_priority(site, thread, priority, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_setschedprio(pthread_t thread, int value)
{
	struct px_site site;
	struct px_hook_sample sample;
	uint32_t priority[2];
	int result, policy;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_setschedprio(thread, value);
	site = PX_SITE(pthread_setschedprio, pthread_setschedprio);
	sample = px_hook_begin();
	priority[0] = priority_of(thread, &policy);
	result = PX_REAL(&sample, px_real.pthread_setschedprio(thread, value));
	priority[1] = px_kernel_priority(policy, value, pthread_equal(thread, pthread_self()));
	record_priority(site, thread, priority, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

static bool is_calling_thread(pid_t pid)
{
	return pid == 0 || (uint32_t)pid == px_thread_tid();
}

static uint32_t priority_of_pid(pid_t pid, int *policy)
{
	struct sched_param param = {0};

	*policy = SCHED_OTHER;
	if (px_is_confined())
		return PX_PRIORITY_NORMAL;
	*policy = (int)syscall(SYS_sched_getscheduler, pid) & ~SCHED_RESET_ON_FORK;
	syscall(SYS_sched_getparam, pid, &param);
	return px_kernel_priority(*policy, param.sched_priority, is_calling_thread(pid));
}

/* result is 0 or an error number. */
static void record_scheduler(struct px_site site, pid_t pid, const uint32_t priority[2], int result)
{
	if (result == 0 && is_calling_thread(pid))
		px_thread_renew();
	px_hook_record(site, PX_RECORD_WHOLE, (void *)(intptr_t)pid, priority[1], priority[0],
		       result);
}

PX_WRAP int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result, old, saved_errno = errno;
	uint32_t priority[2];

	if (PX_NOT_TRACED(thread))
		return px_real.sched_setscheduler(pid, policy, param);
	site = PX_SITE(sched_setscheduler, sched_setscheduler);
	sample = px_hook_begin();
	priority[0] = priority_of_pid(pid, &old);
	errno = saved_errno;
	result = PX_REAL(&sample, px_real.sched_setscheduler(pid, policy, param));
	saved_errno = errno;
	priority[1] = result >= 0 ? priority_of_pid(pid, &old) : priority[0];
	record_scheduler(site, pid, priority, result < 0 ? saved_errno : 0);
	px_hook_end(&sample, site.wrapper);
	errno = saved_errno;
	return result;
}

PX_WRAP int sched_setparam(pid_t pid, const struct sched_param *param)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result, policy, saved_errno = errno;
	uint32_t priority[2];

	if (PX_NOT_TRACED(thread))
		return px_real.sched_setparam(pid, param);
	site = PX_SITE(sched_setparam, sched_setscheduler);
	sample = px_hook_begin();
	priority[0] = priority_of_pid(pid, &policy);
	errno = saved_errno;
	result = PX_REAL(&sample, px_real.sched_setparam(pid, param));
	saved_errno = errno;
	priority[1] = result == 0 ? priority_of_pid(pid, &policy) : priority[0];
	record_scheduler(site, pid, priority, result < 0 ? saved_errno : 0);
	px_hook_end(&sample, site.wrapper);
	errno = saved_errno;
	return result;
}
