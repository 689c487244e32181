/* SPDX-License-Identifier: MIT */
/*
 * Calls that execute a program: posix_spawn(), system(), popen() and exec.  They edit the environment for a program
 * that is not traced (standalone/env_edit.h).  An exec that succeeds does not return.  So its wrapper records the start
 * of the call, and the end only if the exec fails.  In a child of vfork(), it only notes the program (vfork_exec.h).
 */
#include "hook.h"

#include <stdarg.h>

#include "standalone/env_edit.h"
#include "standalone/exec_image.h"
#include "standalone/standalone.h"
#include "trace/counted.h"
#include "wrap/descriptor.h"
#include "wrap/text_arg.h"
#include "wrap/vfork_exec.h"

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
 * Inspect the program at this path.  If searches is true, first search for the program in PATH.  If this process has a
 * filter of system calls, the filter may forbid the system calls of this function.
 */
static enum px_image image_at(const char *path, bool searches)
{
	if (px_fd_is_confined() || !path)
		return PX_IMAGE_FINE;
	if (!searches)
		return px_exec_image(AT_FDCWD, path);
	return readable_or_null(path) ? px_exec_image_found(path) : PX_IMAGE_FINE;
}

/* What to do with the environment of a program. */
struct env_change {
	bool leaves_out; /* leave out this object */
	bool restores;	 /* add what the program left out */
	bool replaces;	 /* name the object of the other word size instead of this one */
	size_t restored; /* bytes of the environment with what was left out */
	size_t size;	 /* bytes of all new environments, at least 1 */
	char other[PX_IMAGE_PATH_MAX]; /* that object */
};

/* The object of the other size may be missing; then the program is not traced. */
static void change_env(struct env_change *change, char *const *envp, bool leaves_out, enum px_image image)
{
	const char *own = px_env_object();

	change->leaves_out = change->restores = change->replaces = false;
	change->restored = 0;
	change->size = 1;
	if (!px_probe_can_read(envp, sizeof(*envp)))
		return;
	if (!leaves_out && image == PX_IMAGE_OTHER_SIZE)
		change->replaces = own && px_exec_image_other_object(own, change->other);
	change->leaves_out = leaves_out || (image != PX_IMAGE_FINE && !change->replaces);
	if (change->leaves_out) {
		change->size = px_env_edit_size(envp);
		return;
	}
	change->restored = (px_env_restore_size(envp) + 15) & ~(size_t)15; /* so that pointers can follow */
	change->restores = change->restored > 0;
	change->size += change->restored;
	if (change->replaces)
		change->size += px_env_replace_size(envp, change->restored, change->other);
}

static char *const *changed_env(const struct env_change *change, char *const *envp, void *room)
{
	if (change->leaves_out)
		return px_env_edit_make(envp, room);
	if (change->restores)
		envp = px_env_restore_make(envp, room);
	return change->replaces ? px_env_replace_make(envp, (char *)room + change->restored, change->other) : envp;
}

static int spawn(const struct spawn_request *request, char *const *envp)
{
	bool searches = request->site.wrapper == PX_WRAPPER_posix_spawnp;
	struct env_change change;
	void *room;

	change_env(&change, envp, px_standalone_leaves_out(true), image_at(request->path, searches));
	room = __builtin_alloca(change.size);
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

	PX_ENSURE_REAL(posix_spawn);
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

	PX_ENSURE_REAL(posix_spawnp);
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
	record(site, PX_RECORD_ENDS, 0, command, px_outcome(result));
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

static enum px_image inspect(const struct image *image)
{
	const char *path;

	switch (image->by) {
	case BY_SEARCH:
		return image_at(image->path, true);
	case BY_DESCRIPTOR:
		return px_fd_is_confined() ? PX_IMAGE_FINE : px_exec_image(image->fd, NULL);
	case BY_DIRECTORY:
		path = px_fd_is_confined() ? NULL : readable_or_null(image->path);
		return path ? px_exec_image(image->fd, *path ? path : NULL) : PX_IMAGE_FINE;
	default:
		return image_at(image->path, false);
	}
}

static int execute(const struct image *image, char *const *envp)
{
	struct env_change change;
	bool is_traced = !PX_NOT_TRACED(process), is_recorded = is_traced && !px_in_vfork_child();
	void *room;
	int result;

	PX_ENSURE_REAL(execve);
	change_env(&change, envp, px_standalone_leaves_out(false), inspect(image));
	room = __builtin_alloca(change.size);
	envp = changed_env(&change, envp, room);
	if (is_traced && !is_recorded)
		px_vfork_exec_note(image->path, image->site.caller);
	if (is_recorded) {
		px_counted_end_process();
		record(image->site, PX_RECORD_BEGINS, image->fd, image->path, 0);
	}
	result = really_execute(image, envp);
	if (is_traced && !is_recorded)
		px_vfork_exec_withdraw();
	if (is_recorded) {
		px_counted_resume();
		record(image->site, PX_RECORD_ENDS, image->fd, image->path, px_outcome(result));
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

/* The caller reads on where this function ends, which it could not if it passed the list itself. */
static void list_arguments(char **argv, const char *first, size_t nr, va_list *arguments)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i <= nr; i++)
		argv[i] = va_arg(*arguments, char *);
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
	list_arguments(argv, first, nr_arguments, &list)

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
