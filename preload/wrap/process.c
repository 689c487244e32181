/* SPDX-License-Identifier: MIT */
/* Processes: calls that make a child, and calls that end the process.  vfork.c has vfork() and clone(). */
#include "hook.h"

#include "standalone/standalone.h"
#include "trace/counted.h"
#include "wrap/descriptor.h"
#include "wrap/process.h"
#include "wrap/vfork.h"
#include "wrap/vfork_exec.h"

static pid_t own_pid(void)
{
	return px_is_confined() ? 0 : (pid_t)syscall(SYS_getpid);
}

/* The time before a fork() for its events (event/calls.h).  It is not 0, because 0 is none. */
static uint32_t time_of_fork(void)
{
	uint32_t time = (uint32_t)(px_callpoint_clock() >> PX_FORK_TICKS_SHIFT);

	return time ? time : UINT32_MAX;
}

/* The child has its own log now, or none. */
static void begin_child(pid_t parent, uint32_t fork_time)
{
	px_vfork_forget();
	px_standalone_after_fork();
	px_process_record_start(parent, fork_time, NULL);
}

/* fork(), or forkpty() with the arguments of `pty`. */
struct pty_arguments {
	int *fd;
	char *name;
	const struct termios *modes;
	const struct winsize *size;
};

PX_INLINE pid_t really_fork(const struct pty_arguments *pty)
{
	return pty ? px_real.forkpty(pty->fd, pty->name, pty->modes, pty->size) : px_real.fork();
}

PX_INLINE pid_t fork_recorded(struct px_site site, const struct pty_arguments *pty)
{
	struct px_hook_sample sample;
	pid_t parent = own_pid();
	uint32_t fork_time = time_of_fork();
	pid_t pid;

	if (PX_NOT_TRACED(process)) {
		pid = really_fork(pty);
		if (pid == 0)
			begin_child(parent, fork_time);
		return pid;
	}
	sample = px_hook_begin();
	pid = PX_REAL(&sample, really_fork(pty));
	if (pid == 0)
		begin_child(parent, fork_time);
	px_hook_record_fd(site, PX_RECORD_WHOLE, 0, fork_time, px_outcome(pid));
	if (pid != 0)
		px_hook_end(&sample, site.wrapper);
	return pid;
}

PX_WRAP pid_t fork(void)
{
	PX_ENSURE_REAL(fork);
	return fork_recorded(PX_SITE(fork, fork), NULL);
}

PX_WRAP int forkpty(int *fd, char *name, const struct termios *modes, const struct winsize *size)
{
	const struct pty_arguments pty = {fd, name, modes, size};

	PX_ENSURE_REAL(forkpty);
	return fork_recorded(PX_SITE(forkpty, fork), &pty);
}

/*
 * The C library makes the child itself, and ends the parent with its own _exit().  So record the call before it is
 * made. In the child, it can still fail.
 */
PX_WRAP int daemon(int no_chdir, int no_close)
{
	struct px_site site = PX_SITE(daemon, daemon);
	bool is_recorded = !PX_NOT_TRACED(process);
	pid_t parent = own_pid();
	uint32_t fork_time = time_of_fork();
	int result;

	PX_ENSURE_REAL(daemon);
	if (is_recorded)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close, 0);
	result = px_real.daemon(no_chdir, no_close);
	if (result == 0 || own_pid() != parent)
		begin_child(parent, fork_time);
	if (is_recorded && result != 0)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close,
				  px_outcome(result));
	return result;
}

/* Calls that end the process without running its destructors. */

static void record_exit(struct px_site site, int status)
{
	px_vfork_exec_record();
	if (px_gate_is_open() && !px_in_vfork_child())
		px_counted_end_process();
	if (!PX_NOT_TRACED(process) && !px_in_vfork_child())
		px_hook_record_fd(site, PX_RECORD_WHOLE, status, 0, 0);
	if (px_gate_is_open() && !px_in_vfork_child())
		px_process_store_maps();
}

PX_WRAP void _exit(int status)
{
	record_exit(PX_SITE(_exit, _exit), status);
	PX_ENSURE_REAL(_exit);
	px_real._exit(status);
	__builtin_unreachable();
}

PX_WRAP void _Exit(int status)
{
	record_exit(PX_SITE(_Exit, _exit), status);
	PX_ENSURE_REAL(_Exit);
	px_real._Exit(status);
	__builtin_unreachable();
}

PX_WRAP void quick_exit(int status)
{
	record_exit(PX_SITE(quick_exit, _exit), status);
	PX_ENSURE_REAL(quick_exit);
	px_real.quick_exit(status);
	__builtin_unreachable();
}
