/* SPDX-License-Identifier: MIT */
/*
 * Processes.  vfork() returns twice, so a wrapper cannot record its end.  The wrapper records the call before it is made,
 * remembers it (trace/thread.h) and then jumps to the real function.  If the child executes a program, the wrapper of exec
 * edits the environment as usual (standalone/env_edit.h), but does not record the exec.  The child may make other calls
 * before its exec, such as calls on descriptors.  Their wrappers record them as calls of the parent, because the child
 * uses the parent's memory.  To distinguish such calls, each wrapper would need another system call.
 *
 * An exec that succeeds does not return.  So the wrapper records the start of the call, and the end only if the exec
 * fails.  If the program waits for a child, the wrapper first makes the call with WNOHANG.
 */
#include "hook.h"

#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "standalone/env_edit.h"
#include "standalone/exec_image.h"
#include "standalone/standalone.h"
#include "trace/counted.h"
#include "trace/inside.h"
#include "wrap/descriptor.h"
#include "wrap/process.h"
#include "wrap/text_arg.h"

/* Look up the real function if it is not known yet.  Some wrappers need it even while the process is not traced. */
#define ENSURE_REAL(name)                                                                          \
	do {                                                                                       \
		if (px_unlikely(!px_real.name))                                                    \
			px_hook_prepare();                                                         \
	} while (0)

static int64_t result_of(int64_t result)
{
	return result < 0 ? -(int64_t)errno : result;
}

/*
 * Return NULL if the text is not readable.  The kernel refuses a bad pointer, but we must not dereference it.  This
 * function makes a system call, which is cheap compared to the calls that create or execute a process.
 */
static const char *readable_or_null(const char *text)
{
	int saved_errno = errno;
	bool is_bad = px_is_confined() ||
		      (syscall(SYS_faccessat, AT_FDCWD, text, F_OK) != 0 && errno == EFAULT);

	errno = saved_errno;
	return is_bad ? NULL : text;
}

static void record(struct px_site site, uint32_t flags, int fd, const char *text, int64_t result)
{
	struct px_text_arg arg = {.data.of_fd = {.fd = fd, .result = result}};

	px_text_arg_record(site, flags, &arg, readable_or_null(text));
}

/* Children. */

static pid_t own_pid(void)
{
	return px_is_confined() ? 0 : (pid_t)syscall(SYS_getpid);
}

/* The child has its own log now, or none. */
static void begin_child(pid_t parent)
{
	px_standalone_after_fork();
	px_process_record_start(parent, NULL);
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
	pid_t pid;

	if (PX_NOT_TRACED(process)) {
		pid = really_fork(pty);
		if (pid == 0)
			begin_child(parent);
		return pid;
	}
	sample = px_hook_begin();
	pid = PX_REAL(&sample, really_fork(pty));
	if (pid == 0)
		begin_child(parent);
	px_hook_record_fd(site, PX_RECORD_WHOLE, 0, 0, result_of(pid));
	if (pid != 0)
		px_hook_end(&sample, site.wrapper);
	return pid;
}

PX_WRAP pid_t fork(void)
{
	ENSURE_REAL(fork);
	return fork_recorded(PX_SITE(fork, fork), NULL);
}

PX_WRAP int forkpty(int *fd, char *name, const struct termios *modes, const struct winsize *size)
{
	const struct pty_arguments pty = {fd, name, modes, size};

	ENSURE_REAL(forkpty);
	return fork_recorded(PX_SITE(forkpty, fork), &pty);
}

/*
 * The C library makes the child itself, and ends the parent with its own _exit().  So record the call before it is made.
 * In the child, it can still fail.
 */
PX_WRAP int daemon(int no_chdir, int no_close)
{
	struct px_site site = PX_SITE(daemon, daemon);
	bool is_recorded = !PX_NOT_TRACED(process);
	pid_t parent = own_pid();
	int result;

	ENSURE_REAL(daemon);
	if (is_recorded)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close, 0);
	result = px_real.daemon(no_chdir, no_close);
	if (result == 0 || own_pid() != parent)
		begin_child(parent);
	if (is_recorded && result != 0)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close,
				  result_of(result));
	return result;
}

#ifdef __x86_64__ /* only on x86-64 does the library need these wrappers */
#define USED_BY_ASM __attribute__((used, visibility("hidden")))

/* Return the real vfork(), or fork() if there is none. */
USED_BY_ASM void *px_process_before_vfork(void *caller);
void *px_process_before_vfork(void *caller)
{
	const struct px_site site = {PX_WRAPPER_vfork, PX_CALL_vfork, caller};

	ENSURE_REAL(fork);
	if (!PX_NOT_TRACED(process))
		px_hook_record_fd(site, PX_RECORD_WHOLE, 0, 0, 0);
	px_thread_doubt_area();
	return px_real.vfork ? (void *)px_real.vfork : (void *)px_real.fork;
}

/*
 * Return the real clone().  Remember a child that shares the memory and gets no thread storage of its own, because it
 * uses the thread storage of this thread.
 */
USED_BY_ASM void *px_process_before_clone(int flags);
void *px_process_before_clone(int flags)
{
	ENSURE_REAL(fork);
	if ((flags & CLONE_VM) && !(flags & CLONE_SETTLS)) {
		if (flags & CLONE_VFORK) {
			px_thread_doubt_area();
		} else {
			px_thread_share_area();
			px_inside_give_up();
		}
	}
	return px_hook_real_clone;
}

/*
 * The child returns from these functions first, and overwrites their stack frames.  So these wrappers must not have a
 * frame.
 */
PX_WRAP __attribute__((naked)) pid_t vfork(void)
{
	__asm__("subq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"movq 8(%rsp), %rdi\n\t"
		"call px_process_before_vfork\n\t"
		"addq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		"jmp *%rax");
}
PX_WRAP extern __typeof__(vfork) __vfork __attribute__((alias("vfork"), leaf, nothrow));

#define PUSH(name) "pushq %" name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define POP(name) "popq %" name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
PX_WRAP __attribute__((naked)) int clone(int (*function)(void *), void *stack, int flags,
					 void *argument, ...)
{
	/* The seven saved registers also align the stack. */
	/* clang-format off */
	__asm__(PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9") PUSH("rax")
		"movl %edx, %edi\n\t"
		"call px_process_before_clone\n\t"
		"movq %rax, %r11\n\t"
		POP("rax") POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi")
		"jmp *%r11");
	/* clang-format on */
}
#pragma GCC diagnostic pop
PX_WRAP extern __typeof__(clone) __clone __attribute__((alias("clone"), leaf, nothrow));
#endif

typedef __typeof__(posix_spawn) spawn_function;

struct spawn_request {
	struct px_site site;
	spawn_function *real;
	pid_t *pid;
	const char *path;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
	char *const *argv;
};

static int spawn_recorded(const struct spawn_request *request, char *const *envp)
{
	struct px_hook_sample sample;
	pid_t pid = 0;
	int result;

	if (PX_NOT_TRACED(process))
		return request->real(request->pid, request->path, request->actions, request->attr,
				     request->argv, envp);
	sample = px_hook_begin();
	result = PX_REAL(&sample, request->real(&pid, request->path, request->actions,
						request->attr, request->argv, envp));
	if (result == 0 && request->pid)
		*request->pid = pid;
	record(request->site, PX_RECORD_WHOLE, pid, request->path, -result);
	px_hook_end(&sample, request->site.wrapper);
	return result;
}

/*
 * Return true if the program at this path cannot load this object.  If searches is true, first search for the program
 * in PATH.  If this process has a filter of system calls, the filter may forbid the system calls of this function.
 */
static bool image_refuses(const char *path, bool searches)
{
	if (px_fd_is_confined() || !path)
		return false;
	if (!searches)
		return px_exec_image_refuses(AT_FDCWD, path);
	return readable_or_null(path) && px_exec_image_refuses_found(path);
}

/* What to do with the environment of a program. */
struct env_change {
	bool leaves_out; /* leave out this object */
	bool restores;	 /* add what the program left out */
	size_t size;	 /* bytes of the new environment, at least 1 */
};

static struct env_change change_env(char *const *envp, bool leaves_out)
{
	struct env_change change = {.size = 1};

	if (!px_probe_can_read(envp, sizeof(*envp)))
		return change;
	change.leaves_out = leaves_out;
	if (leaves_out)
		change.size = px_env_edit_size(envp);
	else
		change.size = px_env_restore_size(envp);
	change.restores = !leaves_out && change.size > 0;
	change.size += change.size == 0;
	return change;
}

static char *const *changed_env(const struct env_change *change, char *const *envp, void *room)
{
	if (change->leaves_out)
		return px_env_edit_make(envp, room);
	return change->restores ? px_env_restore_make(envp, room) : envp;
}

static int spawn(const struct spawn_request *request, char *const *envp)
{
	bool searches = request->site.wrapper == PX_WRAPPER_posix_spawnp;
	struct env_change change = change_env(envp, px_standalone_leaves_out(true) ||
							     image_refuses(request->path, searches));
	void *room = __builtin_alloca(change.size);

	return spawn_recorded(request, changed_env(&change, envp, room));
}

PX_WRAP int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn_request request = {.site = PX_SITE(posix_spawn, posix_spawn),
					.pid = pid,
					.path = path,
					.actions = actions,
					.attr = attr,
					.argv = argv};

	ENSURE_REAL(posix_spawn);
	request.real = px_real.posix_spawn;
	return spawn(&request, envp);
}

PX_WRAP int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn_request request = {.site = PX_SITE(posix_spawnp, posix_spawn),
					.pid = pid,
					.path = path,
					.actions = actions,
					.attr = attr,
					.argv = argv};

	ENSURE_REAL(posix_spawnp);
	request.real = px_real.posix_spawnp;
	return spawn(&request, envp);
}

PX_WRAP int system(const char *command)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(process) || !command)
		return px_real.system(command);
	site = PX_SITE(system, system);
	sample = px_hook_begin();
	record(site, PX_RECORD_BEGINS, 0, command, 0);
	result = PX_REAL(&sample, px_real.system(command));
	record(site, PX_RECORD_ENDS, 0, command, result_of(result));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP FILE *popen(const char *command, const char *mode)
{
	struct px_site site;
	struct px_hook_sample sample;
	int saved_errno;
	FILE *stream;

	if (PX_NOT_TRACED(process))
		return px_real.popen(command, mode);
	site = PX_SITE(popen, popen);
	sample = px_hook_begin();
	stream = PX_REAL(&sample, px_real.popen(command, mode));
	saved_errno = errno;
	record(site, PX_RECORD_WHOLE, stream ? fileno(stream) : -1, command,
	       stream ? 0 : -saved_errno);
	px_hook_end(&sample, site.wrapper);
	errno = saved_errno;
	return stream;
}

/* Exec.  Calls without `envp` use the environment of the process. */

enum image_source { BY_PATH, BY_SEARCH, BY_DESCRIPTOR, BY_DIRECTORY };

struct image {
	struct px_site site;
	enum image_source by;
	int fd, flags;
	const char *path;
	char *const *argv;
};

static int really_execute(const struct image *image, char *const *envp)
{
	switch (image->by) {
	case BY_SEARCH:
		return px_real.execvpe(image->path, image->argv, envp);
	case BY_DESCRIPTOR:
		return px_real.fexecve(image->fd, image->argv, envp);
	case BY_DIRECTORY:
		return px_real.execveat(image->fd, image->path, image->argv, envp, image->flags);
	default:
		return px_real.execve(image->path, image->argv, envp);
	}
}

static bool cannot_load_us(const struct image *image)
{
	const char *path;

	switch (image->by) {
	case BY_SEARCH:
		return image_refuses(image->path, true);
	case BY_DESCRIPTOR:
		return !px_fd_is_confined() && px_exec_image_refuses(image->fd, NULL);
	case BY_DIRECTORY:
		path = px_fd_is_confined() ? NULL : readable_or_null(image->path);
		return path && px_exec_image_refuses(image->fd, *path ? path : NULL);
	default:
		return image_refuses(image->path, false);
	}
}

static int execute(const struct image *image, char *const *envp)
{
	struct env_change change =
		change_env(envp, px_standalone_leaves_out(false) || cannot_load_us(image));
	void *room = __builtin_alloca(change.size);
	bool is_recorded = !PX_NOT_TRACED(process) && !px_in_vfork_child();
	int result;

	ENSURE_REAL(execve);
	envp = changed_env(&change, envp, room);
	if (is_recorded) {
		px_counted_end_process();
		record(image->site, PX_RECORD_BEGINS, image->fd, image->path, 0);
	}
	result = really_execute(image, envp);
	if (is_recorded) {
		px_counted_resume();
		record(image->site, PX_RECORD_ENDS, image->fd, image->path, result_of(result));
	}
	return result;
}

PX_WRAP int execve(const char *path, char *const argv[], char *const envp[])
{
	const struct image image = {PX_SITE(execve, execve), BY_PATH, -1, 0, path, argv};

	return execute(&image, envp);
}

PX_WRAP int execv(const char *path, char *const argv[])
{
	const struct image image = {PX_SITE(execv, execve), BY_PATH, -1, 0, path, argv};

	return execute(&image, environ);
}

PX_WRAP int execvp(const char *file, char *const argv[])
{
	const struct image image = {PX_SITE(execvp, execve), BY_SEARCH, -1, 0, file, argv};

	return execute(&image, environ);
}

PX_WRAP int execvpe(const char *file, char *const argv[], char *const envp[])
{
	const struct image image = {PX_SITE(execvpe, execve), BY_SEARCH, -1, 0, file, argv};

	return execute(&image, envp);
}

PX_WRAP int fexecve(int fd, char *const argv[], char *const envp[])
{
	const struct image image = {PX_SITE(fexecve, execve), BY_DESCRIPTOR, fd, 0, NULL, argv};

	return execute(&image, envp);
}

PX_WRAP int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	const struct image image = {PX_SITE(execveat, execve), BY_DIRECTORY, fd, flags, path, argv};

	return execute(&image, envp);
}

/* Count the arguments up to a null pointer.  The caller reads the list a second time. */
static size_t count_arguments(va_list arguments)
{
	size_t nr = 1;

	while (va_arg(arguments, char *))
		nr++;
	return nr;
}

static void list_arguments(char **argv, const char *first, size_t nr, va_list arguments)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i <= nr; i++)
		argv[i] = va_arg(arguments, char *);
}

/* Make an array of the arguments, from the last named parameter to the null pointer. */
#define WITH_LIST(first, list, argv)                                                               \
	size_t nr_arguments;                                                                       \
	va_list list;                                                                              \
	va_start(list, first);                                                                     \
	nr_arguments = count_arguments(list);                                                      \
	va_end(list);                                                                              \
	char **argv = __builtin_alloca((nr_arguments + 1) * sizeof(char *));                       \
	va_start(list, first);                                                                     \
	list_arguments(argv, first, nr_arguments, list)

PX_WRAP int execl(const char *path, const char *first, ...)
{
	struct image image = {PX_SITE(execl, execve), BY_PATH, -1, 0, path, NULL};
	WITH_LIST(first, list, argv);
	va_end(list);
	image.argv = argv;
	return execute(&image, environ);
}

PX_WRAP int execlp(const char *file, const char *first, ...)
{
	struct image image = {PX_SITE(execlp, execve), BY_SEARCH, -1, 0, file, NULL};
	WITH_LIST(first, list, argv);
	va_end(list);
	image.argv = argv;
	return execute(&image, environ);
}

PX_WRAP int execle(const char *path, const char *first, ...)
{
	struct image image = {PX_SITE(execle, execve), BY_PATH, -1, 0, path, NULL};
	char *const *envp;
	WITH_LIST(first, list, argv);
	envp = va_arg(list, char *const *);
	va_end(list);
	image.argv = argv;
	return execute(&image, envp);
}

/* Waiting for children. */

struct wait_request {
	struct px_site site;
	pid_t pid;
	int *status; /* not NULL: the event shows the status too */
	int options;
	struct rusage *usage;
};

/* The data of a wait that got the status of a child. */
struct wait_data {
	union px_call_data data;
	int32_t child, status;
};

static void record_wait(struct px_site site, uint32_t flags, const struct wait_data *data)
{
	px_hook_record_long(site, flags, data,
			    data->child > 0 ? sizeof(*data) : sizeof(data->data));
}

static pid_t really_wait(const struct wait_request *request, int more)
{
	int options = request->options | more;

	if (request->site.wrapper == PX_WRAPPER_wait && more == 0)
		return px_real.wait(request->status);
	if (request->site.wrapper == PX_WRAPPER_wait || request->site.wrapper == PX_WRAPPER_waitpid)
		return px_real.waitpid(request->pid, request->status, options);
	if (request->site.wrapper == PX_WRAPPER_wait3)
		return px_real.wait3(request->status, options, request->usage);
	return px_real.wait4(request->pid, request->status, options, request->usage);
}

static pid_t traced_wait(const struct wait_request *request)
{
	struct px_hook_sample sample = px_hook_begin();
	struct wait_data data = {.data.of_fd = {.fd = request->pid, .value = (uint32_t)request->options}};
	pid_t result = PX_REAL(&sample, really_wait(request, WNOHANG));
	bool waits = result == 0 && !(request->options & WNOHANG);

	if (waits) {
		record_wait(request->site, PX_RECORD_BEGINS, &data);
		result = PX_REAL(&sample, really_wait(request, 0));
	}
	data.data.of_fd.result = result_of(result);
	if (result > 0) {
		data.child = result;
		data.status = *request->status;
	}
	record_wait(request->site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, &data);
	px_hook_end(&sample, request->site.wrapper);
	return result;
}

PX_WRAP pid_t wait(int *status)
{
	int own;
	const struct wait_request request = {PX_SITE(wait, waitpid), -1, status ?: &own, 0, NULL};

	if (PX_NOT_TRACED(process))
		return px_real.wait(status);
	return traced_wait(&request);
}

PX_WRAP pid_t waitpid(pid_t pid, int *status, int options)
{
	int own;
	const struct wait_request request = {PX_SITE(waitpid, waitpid), pid, status ?: &own, options, NULL};

	if (PX_NOT_TRACED(process))
		return px_real.waitpid(pid, status, options);
	return traced_wait(&request);
}

PX_WRAP pid_t wait3(int *status, int options, struct rusage *usage)
{
	int own;
	const struct wait_request request = {PX_SITE(wait3, waitpid), -1, status ?: &own, options, usage};

	if (PX_NOT_TRACED(process))
		return px_real.wait3(status, options, usage);
	return traced_wait(&request);
}

PX_WRAP pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	int own;
	const struct wait_request request = {PX_SITE(wait4, waitpid), pid, status ?: &own, options, usage};

	if (PX_NOT_TRACED(process))
		return px_real.wait4(pid, status, options, usage);
	return traced_wait(&request);
}

/* Return what wait() stores for this child. */
static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xFF) << 8;
	case CLD_KILLED:
		return info->si_status;
	case CLD_DUMPED:
		return info->si_status | WCOREFLAG;
	case CLD_CONTINUED:
		return 0xFFFF;
	default:
		return info->si_status << 8 | 0x7F;
	}
}

/* The kernel fills in *info even if no child has changed state, so it is safe to make the call twice. */
static int traced_waitid(struct px_site site, idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct px_hook_sample sample = px_hook_begin();
	struct wait_data data = {.data.of_fd = {.fd = (int)id, .value = (uint32_t)options}};
	siginfo_t own, *to = info ? info : &own;
	int result = PX_REAL(&sample, px_real.waitid(type, id, to, options | WNOHANG));
	bool waits = result == 0 && !(options & WNOHANG) && to->si_pid == 0;

	if (waits) {
		record_wait(site, PX_RECORD_BEGINS, &data);
		result = PX_REAL(&sample, px_real.waitid(type, id, to, options));
	}
	data.data.of_fd.result = result_of(result);
	if (result == 0 && to->si_pid > 0) {
		data.child = to->si_pid;
		data.status = status_of(to);
	}
	record_wait(site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, &data);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (PX_NOT_TRACED(process))
		return px_real.waitid(type, id, info, options);
	return traced_waitid(PX_SITE(waitid, waitpid), type, id, info, options);
}

/* This wrapper does not know the pid of the child, so it records every call as a wait. */
PX_WRAP int pclose(FILE *stream)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(process))
		return px_real.pclose(stream);
	site = PX_SITE(pclose, waitpid);
	sample = px_hook_begin();
	px_hook_record_fd(site, PX_RECORD_BEGINS, -1, 0, 0);
	result = PX_REAL(&sample, px_real.pclose(stream));
	px_hook_record_fd(site, PX_RECORD_ENDS, -1, 0, result_of(result));
	px_hook_end(&sample, site.wrapper);
	return result;
}

/* Calls that end the process without running its destructors. */

static void record_exit(struct px_site site, int status)
{
	if (px_gate_is_open() && !px_in_vfork_child())
		px_counted_end_process();
	if (!PX_NOT_TRACED(process) && !px_in_vfork_child())
		px_hook_record_fd(site, PX_RECORD_WHOLE, status, 0, 0);
}

PX_WRAP void _exit(int status)
{
	record_exit(PX_SITE(_exit, _exit), status);
	ENSURE_REAL(_exit);
	px_real._exit(status);
	__builtin_unreachable();
}

PX_WRAP void _Exit(int status)
{
	record_exit(PX_SITE(_Exit, _exit), status);
	ENSURE_REAL(_Exit);
	px_real._Exit(status);
	__builtin_unreachable();
}

PX_WRAP void quick_exit(int status)
{
	record_exit(PX_SITE(quick_exit, _exit), status);
	ENSURE_REAL(quick_exit);
	px_real.quick_exit(status);
	__builtin_unreachable();
}
