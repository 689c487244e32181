/* SPDX-License-Identifier: MIT */
/*
 * Tracing without the tool: TXTRACE_OUT names the log.  The process traces itself into a stream with a log, as any
 * program can.  While the process has a log, it also has a flush thread, and a descriptor with a high number.  A
 * destructor completes the log.  If the process is killed, txtrace recover can complete the log later.  If anything
 * fails, the code here prints one line on stderr, and the program continues.
 *
 * TXTRACE_CHILDREN decides which children are traced.  If it is "no", the wrapper of exec gives each executed program
 * an environment without this object (wrap/exec.c, env_edit.c).  For system(), popen() and clone() that is
 * impossible.  In these cases, and with match=, the constructor finds out whether the parent process also has this
 * object.  If it has, this process is a child.
 *
 * This file makes its system calls with syscall().  The wrappers would record other functions as calls of the program.
 */
#include "direct.h"
#include "standalone/standalone.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace_ext.h>

#include "base/clock.h"
#include "base/shm.h"
#include "file_status.h"
#include "hook.h"
#include "ring/growth.h"
#include "standalone/env_edit.h"
#include "standalone/env_options.h"
#include "standalone/ring_size.h"
#include "standalone/warn.h"
#include "stream/flush.h"
#include "stream/recover.h"
#include "trace/counted.h"

#define NAMES_MAX 10000 /* highest number in the name of an existing log: name.1, ... */

struct px_standalone px_standalone;

/* Copies of the options from the environment, because a program may overwrite its environment. */
static char pattern[PATH_MAX]; /* absolute path of the log, with its % sequences; "": no log */
static int log_policy = POSIX_TRACE_LOOP;
static size_t log_size = PX_ENV_SIZE;
static bool aggregates;
static int stacks = TXTRACE_STACKS_NONE;

static trace_id_t log_trace;
static uint32_t log_pid; /* the process that has the log; 0: no log */
static char log_path[PATH_MAX];

/* Children. */

/*
 * Return true if this line of /proc/<pid>/maps is for code of this object.  A recorder or a debugger also maps this
 * object, but only to read it.
 */
static bool is_our_code(char *line)
{
	const char *rights = strchr(line, ' ');

	return rights && strnlen(rights, 5) == 5 && rights[3] == 'x' &&
	       strstr(line, PX_OBJECT_NAME);
}

/* Return true if a process runs this object. */
static bool has_object(long pid)
{
	char path[40], text[PATH_MAX + 256];
	size_t kept = 0;
	bool found = false;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (!found && (got = syscall(SYS_read, fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		char *line = text, *end;

		text[kept + (size_t)got] = '\0';
		for (; !found && (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			found = is_our_code(line);
		}
		kept = strlen(line);
		memmove(text, line, kept);
	}
	syscall(SYS_close, fd);
	return found;
}

bool px_standalone_leaves_out(bool spawns)
{
	uint32_t pid = px_read_once(&px_standalone.pid);

	/*
	 * In the new program, the constructor of this object would make system calls, and the filter could make the
	 * kernel kill the program for them.
	 */
	if (px_is_confined())
		return true;
	if (px_standalone.children != PX_CHILDREN_NO || pid == 0)
		return false;
	return spawns || px_standalone.is_quiet || pid != (uint32_t)syscall(SYS_getpid);
}

/* The log. */

/*
 * The name of the executable.  The arguments may contain any other name, and a program may overwrite them.  If /proc
 * does not show the executable, use the name in the arguments.
 */
static char program_name[256];

static void find_program_name(void)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX];
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
	size_t end = sizeof(deleted) - 1;
	const char *name;

	path[length > 0 ? length : 0] = '\0';
	if (length > (ssize_t)end && strcmp(path + length - end, deleted) == 0)
		path[(size_t)length - end] = '\0';
	name = strrchr(path, '/');
	snprintf(program_name, sizeof(program_name), "%s",
		 name && name[1] ? name + 1 : program_invocation_short_name);
}

static bool put(char *path, const char *text, bool is_name)
{
	size_t length = strlen(path);

	for (; *text && length + 1 < PATH_MAX; text++)
		path[length++] = is_name && (*text == '/' || (unsigned char)*text < ' ') ? '_' :
											   *text;
	path[length] = '\0';
	return !*text;
}

static bool put_expansion(char *path, char key)
{
	time_t now = (time_t)(px_clock_realtime_ns() / 1000000000);
	char text[32] = "%";
	struct tm date;

	if (key == 'e')
		return put(path, program_name, true);
	if (key == 'p')
		snprintf(text, sizeof(text), "%ld", syscall(SYS_getpid));
	else if (key == 't' && localtime_r(&now, &date))
		strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &date);
	return put(path, text, true);
}

static bool expand(char path[PATH_MAX])
{
	bool fits = true;
	char one[2] = "";

	path[0] = '\0';
	for (const char *at = pattern; fits && *at; at++) {
		one[0] = *at;
		fits = *at == '%' ? put_expansion(path, *++at) : put(path, one, false);
	}
	return fits;
}

static bool is_pattern(const char *text)
{
	for (const char *at = text; (at = strchr(at, '%')); at += 2)
		if (!at[1] || !strchr("ept%", at[1]))
			return false;
	return true;
}

/* Make the pattern absolute, with the directory in which the program starts. */
static bool read_pattern(const char *text)
{
	char directory[PATH_MAX] = "";

	if (!is_pattern(text)) {
		px_warn("TXTRACE_OUT=%s: after %% use e, p, t or %%; no log is written", text);
		return false;
	}
	if (*text != '/' && (!getcwd(directory, sizeof(directory) - 1) || directory[0] != '/'))
		directory[0] = '\0';
	else if (*text != '/')
		strcat(directory, "/");
	for (const char *at = directory; *at; at++)
		if (!put(pattern, *at == '%' ? "%%" : (char[2]){*at, '\0'}, false))
			break;
	if (put(pattern, text, false))
		return true;
	px_warn("TXTRACE_OUT is too long; no log is written");
	pattern[0] = '\0';
	return false;
}

/* The log that this process had before its exec, and the name of that log; "": the log has another name. */
static struct px_former former;
static char former_path[PATH_MAX];

static void note_former(bool has_former)
{
	px_status status;

	if (has_former && px_status_at(AT_FDCWD, log_path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    status.st_dev == former.device && status.st_ino == former.inode)
		strcpy(former_path, log_path);
}

/* Create a new file.  If the name exists, leave that file as it is and try the next name. */
static int open_log(bool has_former)
{
	char base[PATH_MAX];
	long fd = -1;

	errno = ENAMETOOLONG;
	if (!expand(base))
		return -1;
	for (int i = 0; i < NAMES_MAX; i++) {
		if (snprintf(log_path, sizeof(log_path), i ? "%s.%d" : "%s", base, i) >=
		    (int)sizeof(log_path)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = syscall(SYS_openat, AT_FDCWD, log_path,
			     O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_LARGEFILE, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		note_former(has_former);
	}
	return (int)fd;
}

/*
 * Our log has the events of the former log now.  So remove the former log, and give its name to ours.  If another
 * process takes this name first, keep the name of our log.  (Some file systems write the data of a file at once if a
 * process renames it over another file.)
 */
static void replace_former(void)
{
	px_former_remove(&former);
	if (former_path[0] && syscall(SYS_renameat2, AT_FDCWD, log_path, AT_FDCWD, former_path,
				      RENAME_NOREPLACE) == 0)
		strcpy(log_path, former_path);
}

static int create_of_size(trace_attr_t *attr, int fd, size_t size)
{
	int error = posix_trace_attr_setstreamsize(attr, size);

	return error ? error : posix_trace_create_withlog(0, attr, fd, &log_trace);
}

/* lack: see px_shm_lack() */
static const char *lack_text(int lack)
{
	return lack == ENOSPC ? "there is no room in the shared memory" :
	       lack == EFBIG  ? "the limit of the size of files (ulimit -f) has no room" :
				"there is no memory, or the limit of addresses (ulimit -v) has no room";
}

/* Create a stream with smaller rings if those of the usual size do not fit. */
static int create_with_rings(trace_attr_t *attr, int fd)
{
	size_t size = px_ring_size(), usual = size;
	int error = create_of_size(attr, fd, size), lack = px_shm_lack();

	while (error == ENOMEM && (size = px_ring_size_below(size)) > 0)
		error = create_of_size(attr, fd, size);
	if (!error && size < usual)
		px_warn("%s: %s for rings of %zu bytes, so they have %zu: events are lost more easily", log_path,
			lack_text(lack), usual, size);
	return error;
}

static int create(int fd, bool has_former)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (error)
		return error;
	posix_trace_attr_setname(&attr, program_name);
	error = posix_trace_attr_setlogfullpolicy(&attr, log_policy);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	if (!error)
		error = posix_trace_attr_setlogsize(&attr, log_size);
	if (!error)
		error = txtrace_attr_setaggregation(&attr, aggregates);
	if (!error)
		error = txtrace_attr_setstacks(&attr, stacks);
	if (!error)
		error = create_with_rings(&attr, fd);
	posix_trace_attr_destroy(&attr);
	if (!error && has_former && px_flush_former(log_trace, former.stream) == 0)
		replace_former();
	else if (has_former)
		px_former_leave(&former);
	if (!error) {
		error = posix_trace_start(log_trace);
		if (error)
			posix_trace_shutdown(log_trace);
	}
	return error;
}

/*
 * The log is open, so its directory is not to blame.  EACCES is about the shared memory: the process has another user
 * than when it found the directory.
 */
static void warn_of_creation(int error)
{
	const char *directory = error == EACCES && !px_shm_refused() ? px_shm_directory() : px_shm_refused();

	if (directory)
		px_warn("%s, the directory for shared memory, cannot be used: %s; no log is written; see "
			"TXTRACE_DIR in posixtrace(7)", directory, px_error_text(error));
	else if (error == ENOMEM)
		px_warn("%s: %s for a ring; no log is written", log_path, lack_text(px_shm_lack()));
	else
		px_warn("%s: %s; no log is written", log_path, px_error_text(error));
}

/* The library has its own descriptor of the log, with a high number, so close ours. */
static void begin_log(bool has_former)
{
	int fd = open_log(has_former);
	int error;

	if (fd < 0) {
		if (has_former)
			px_former_leave(&former);
		px_warn("%s: %s; no log is written", log_path, px_error_text(errno));
		return;
	}
	error = create(fd, has_former);
	syscall(SYS_close, fd);
	if (error) {
		syscall(SYS_unlinkat, AT_FDCWD, log_path, 0);
		warn_of_creation(error);
		return;
	}
	log_pid = (uint32_t)syscall(SYS_getpid);
}

static bool child_is_wanted;

void px_standalone_after_fork(void)
{
	int saved_errno = errno;

	if (log_pid == 0)
		return;
	log_pid = 0;
	if (child_is_wanted && !px_is_confined()) {
		begin_log(false);
		if (log_pid != 0)
			px_flush_mark_forked(log_trace);
	}
	errno = saved_errno;
}

static const char *variable(const char *name)
{
	const char *text = secure_getenv(name);

	return text && *text ? text : NULL;
}

/* Read the environment variables that decide whether this process is traced.  Return false if it is not. */
static bool read_process(void)
{
	const char *disable = variable("TXTRACE_DISABLE");
	const char *children = variable("TXTRACE_CHILDREN");

	px_standalone.pid = (uint32_t)syscall(SYS_getpid);
	if (disable && strcmp(disable, "0") != 0)
		return false;
	child_is_wanted = children && px_env_children(children, &px_standalone.children);
	/* Many children live only for a moment, so their rings begin small. */
	px_growth_is_wanted = child_is_wanted;
	px_standalone.is_quiet = !child_is_wanted && has_object(syscall(SYS_getppid));
	return !px_standalone.is_quiet;
}

static void trace(void)
{
	const char *events = variable("TXTRACE_EVENTS");
	const char *size = variable("TXTRACE_SIZE");
	const char *policy = variable("TXTRACE_POLICY");
	const char *aggregate = variable("TXTRACE_AGGREGATE");
	const char *stack = variable("TXTRACE_STACKS");
	const char *out = variable("TXTRACE_OUT");

	if (!read_process()) {
		px_store_release(&px_hook_groups, (uint32_t)PX_GROUP_READY);
		return;
	}
	px_env_keep(environ);
	if (events)
		px_store_release(&px_hook_groups, px_env_events(events) | PX_GROUP_READY);
	if (size)
		log_size = px_env_size(size);
	if (policy)
		log_policy = px_env_policy(policy);
	aggregates = aggregate && strcmp(aggregate, "0") != 0;
	if (stack)
		stacks = px_env_stacks(stack);
	if (out && read_pattern(out))
		begin_log(px_former_find(&former));
}

/* This constructor runs after the constructors of the library in this object. */
__attribute__((constructor(103))) static void begin(void)
{
	int saved_errno = errno;

	px_warn_begin();
	find_program_name();
	trace();
	px_recover_own();
	errno = saved_errno;
}

void px_standalone_end_log(void)
{
	if (log_pid == 0)
		return;
	log_pid = 0;
	posix_trace_shutdown(log_trace);
	px_warn("%s ends here: the program filters the system calls of all its threads", log_path);
}

bool px_standalone_pause(bool always)
{
	int saved_errno = errno;
	bool has_paused = !px_is_confined() && log_pid != 0 && log_pid == (uint32_t)syscall(SYS_getpid) &&
			  (always || !px_flush_thread_is_alike()) && px_flush_pause_thread(log_trace);

	errno = saved_errno;
	return has_paused;
}

void px_standalone_resume(void)
{
	int saved_errno = errno, error = px_flush_resume_thread(log_trace);

	if (error && error != EINVAL) { /* EINVAL: another thread has just completed the log */
		log_pid = 0;
		posix_trace_shutdown(log_trace);
		px_warn("%s ends here: the program may create no thread any more", log_path);
	}
	errno = saved_errno;
}

/* This destructor runs before all others of this object. */
__attribute__((destructor(103))) static void end_counts(void)
{
	if (px_gate_is_open() && !px_is_confined())
		px_counted_end_process();
}

/*
 * This destructor runs before the destructor of the library, because that one would complete the log without a report
 * of errors.  A child of vfork() shares these variables with its parent, so check the pid.
 */
__attribute__((destructor(102))) static void end(void)
{
	struct posix_trace_status_info status = {0};
	int error, saved_errno = errno;

	if (px_is_confined() || log_pid == 0 || log_pid != (uint32_t)syscall(SYS_getpid))
		return;
	log_pid = 0;
	posix_trace_get_status(log_trace, &status);
	error = posix_trace_shutdown(log_trace);
	error = status.posix_stream_flush_error ? status.posix_stream_flush_error : error;
	if (error == EBADF)
		px_warn("%s is incomplete: the program closed its descriptor, and the file was not "
			"found again",
			log_path);
	else if (error)
		px_warn("%s is incomplete: %s", log_path, px_error_text(error));
	errno = saved_errno;
}
