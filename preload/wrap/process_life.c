/* SPDX-License-Identifier: MIT */
/*
 * The beginning and the end of a process.  A constructor records the command line, because setproctitle() and the like
 * overwrite it later, and because nobody can read it after the process has ended.  A function of on_exit() records the
 * status of exit() and of the return from main(); the wrapper of _exit() records the other ends.  musl has no
 * on_exit(), so there exit() and main() have wrappers, which keep the status.
 */
#include "hook.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "wrap/process.h"
#include "wrap/text_arg.h"
#include "wrap/vfork_exec.h"

#define NO_WRAPPER_SITE(number, call) PX_SITE_WITHOUT_WRAPPER(number, call, NULL)

/* The path by which this program was executed (AT_EXECFN), as a hash; 0: not known. */
static int64_t hash_of_program(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);

	return path ? (int64_t)px_call_hash_path(path, strnlen(path, PX_CALL_PATH_MAX)) : 0;
}

void px_process_record_start(pid_t parent, uint32_t fork_time, const char *command)
{
	struct px_text_arg arg = {
		.data.of_fd = {.fd = parent, .value = fork_time, .result = fork_time ? 0 : hash_of_program()}};

	if (!PX_NOT_TRACED(process))
		px_text_arg_record(NO_WRAPPER_SITE(PROCESS_START, txtrace_process_start),
				   PX_RECORD_WHOLE, &arg, command);
}

static void record_end(int status)
{
	if (PX_NOT_TRACED(process) || px_in_vfork_child())
		return;
	px_callpoint_thread_time(NULL);
	px_hook_record_fd(NO_WRAPPER_SITE(PROCESS_END, txtrace_process_end), PX_RECORD_WHOLE, status, 0, 0);
}

#ifdef __GLIBC__

static void at_exit(int status, void *unused)
{
	(void)unused;
	px_vfork_exec_record();
	record_end(status);
}

static void watch_exit(void)
{
	on_exit(at_exit, NULL);
}

#else

/* An end with a wrong status is worse than none: so if the program did not tell it, there is no event. */
static int exit_status;
static bool is_status_known;

static void keep_status(int status)
{
	if (px_in_vfork_child())
		return;
	exit_status = status;
	is_status_known = true;
}

static void at_exit(void)
{
	px_vfork_exec_record();
	if (is_status_known)
		record_end(exit_status);
}

static void watch_exit(void)
{
	atexit(at_exit);
}

static void (*real_exit)(int status);

PX_WRAP void exit(int status)
{
	keep_status(status);
	if (!real_exit)
		real_exit = (void (*)(int))dlsym(RTLD_NEXT, "exit");
	real_exit(status);
	__builtin_unreachable();
}

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*first)(void), void (*last)(void),
			   void (*last_of_loader)(void));

static main_function *main_of_program;

static int run_main(int argc, char **argv, char **environment)
{
	int status = main_of_program(argc, argv, environment);

	keep_status(status);
	return status;
}

/* The first code of a program calls this function, which calls main(). */
PX_WRAP start_function __libc_start_main;
int __libc_start_main(main_function *main, int argc, char **argv, void (*first)(void), void (*last)(void),
		      void (*last_of_loader)(void))
{
	start_function *really = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");

	main_of_program = main;
	real_exit = (void (*)(int))dlsym(RTLD_NEXT, "exit");
	return really(run_main, argc, argv, first, last, last_of_loader);
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
		px_process_record_start((pid_t)syscall(SYS_getppid), 0,
					read_command(command, sizeof(command)) ? command : NULL);
	errno = saved_errno;
}
