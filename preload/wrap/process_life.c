/* SPDX-License-Identifier: MIT */
/*
 * The beginning and the end of a process.  A constructor records the command line, because setproctitle() and the like
 * overwrite it later, and because nobody can read it after the process has ended.  A function of on_exit() records the
 * status of exit() and of the return from main(); the wrapper of _exit() records the other ends.
 */
#include "hook.h"

#include <fcntl.h>
#include <stdlib.h>

#include "wrap/process.h"
#include "wrap/text_arg.h"
#include "wrap/vfork_exec.h"

#define NO_WRAPPER_SITE(number, call) PX_SITE_WITHOUT_WRAPPER(number, call, NULL)

void px_process_record_start(pid_t parent, const char *command)
{
	struct px_text_arg arg = {.data.of_fd = {.fd = parent}};

	if (!PX_NOT_TRACED(process))
		px_text_arg_record(NO_WRAPPER_SITE(PROCESS_START, txtrace_process_start),
				   PX_RECORD_WHOLE, &arg, command);
}

#ifdef __GLIBC__

static void at_exit(int status, void *unused)
{
	(void)unused;
	px_vfork_exec_record();
	if (PX_NOT_TRACED(process) || px_in_vfork_child())
		return;
	px_callpoint_thread_time(NULL);
	px_hook_record_fd(NO_WRAPPER_SITE(PROCESS_END, txtrace_process_end), PX_RECORD_WHOLE, status, 0, 0);
}

static void watch_exit(void)
{
	on_exit(at_exit, NULL);
}

#else

/* Only glibc passes the status to a function.  An end with a wrong status is worse than none. */
static void watch_exit(void)
{
	atexit(px_vfork_exec_record);
}

#endif

/* Read the arguments, with a blank between them.  Return false if the kernel does not show them. */
static bool read_command(char *text, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	for (ssize_t i = 0; i + 1 < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return true;
}

/* This runs after the constructor that begins the log of this process. */
__attribute__((constructor(104))) static void begin(void)
{
	char command[sizeof(((struct px_text_arg *)0)->text)];
	int saved_errno = errno;

	watch_exit();
	if (!PX_NOT_TRACED(process))
		px_process_record_start((pid_t)syscall(SYS_getppid),
					read_command(command, sizeof(command)) ? command : NULL);
	errno = saved_errno;
}
