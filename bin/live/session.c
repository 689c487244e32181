/* SPDX-License-Identifier: MIT */
#include "live/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <trace_ext.h>
#include <unistd.h>

#include "../preload/standalone/ring_size.h"
#include "base/message.h"
#include "live/directory.h"
#include "live/ring_bound.h"
#include "live/target.h"

/* Streams. */

static void report_not_permitted(pid_t pid)
{
	struct target target;
	const struct passwd *user;

	if (!target_inspect(&target, pid)) {
		message("process %d has ended", (int)pid);
	} else if (target.uid != geteuid() && geteuid() != 0) {
		user = getpwuid(target.uid);
		message("process %d (%s) belongs to %s: only that user and root can trace it", (int)pid,
			target.name, user ? user->pw_name : "another user");
	} else if (target.is_secure) {
		target_explain(&target, false);
	} else {
		message("process %d (%s) cannot be traced: it does not allow others to read its "
			"memory, or it is in another container",
			(int)pid, target.name);
	}
}

/* A new pid name space may have the /proc of another one, with other numbers for its processes. */
static bool is_proc_foreign(void)
{
	char number[32];
	ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	number[length < 0 ? 0 : length] = '\0';
	return length > 0 && strtol(number, NULL, 10) != (long)getpid();
}

bool session_is_refused(char why[SESSION_REFUSAL_BYTES])
{
	static const struct {
		enum txtrace_mechanism_kind kind;
		const char *name;
	} needed[] = {{TXTRACE_MECHANISM_PROC, "/proc"}, {TXTRACE_MECHANISM_SYSV, "System V memory"}};
	struct txtrace_mechanism mechanism;

	if (is_proc_foreign()) {
		snprintf(why, SESSION_REFUSAL_BYTES,
			 "/proc is that of another pid name space, so no process can trace another one; mount the own "
			 "/proc (unshare --mount-proc)");
		return true;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (txtrace_check_mechanism(needed[i].kind, &mechanism) != 0 || mechanism.error == 0)
			continue;
		snprintf(why, SESSION_REFUSAL_BYTES, "there is no %s here (%s), so no process can trace another one",
			 needed[i].name, strerror(mechanism.error));
		return true;
	}
	return false;
}

/* Create the stream, with rings that grow up to this size, or of the usual size if it is 0.  Return an error number. */
static int create(const struct session_options *order, size_t largest_size, trace_id_t *trace)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setname(&attr, order->name);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, order->stream_policy);
	if (!error)
		error = posix_trace_attr_setlogfullpolicy(&attr, order->log_policy);
	if (!error)
		error = posix_trace_attr_setinherited(&attr, order->inherits ?
								     POSIX_TRACE_INHERITED :
								     POSIX_TRACE_CLOSE_FOR_CHILD);
	if (!error)
		error = posix_trace_attr_setstreamsize(
			&attr, largest_size > 0 ? largest_size : order->stream_size);
	if (!error)
		error = txtrace_attr_setgrowth(&attr, largest_size > 0);
	if (!error)
		error = txtrace_attr_setaggregation(&attr, order->aggregates);
	if (!error)
		error = txtrace_attr_setsched(&attr, order->log >= 0 && !order->without_sched &&
							     order->stream_policy == POSIX_TRACE_FLUSH);
	if (!error && order->has_stacks)
		error = txtrace_attr_setstacks(&attr, order->stacks);
	if (!error && order->log_size > 0)
		error = posix_trace_attr_setlogsize(&attr, order->log_size);
	if (!error && order->log >= 0)
		error = posix_trace_create_withlog(order->pid, &attr, order->log, trace);
	else if (!error)
		error = posix_trace_create(order->pid, &attr, trace);
	posix_trace_attr_destroy(&attr);
	return error;
}

/* Create a stream for a process, but without a log and the thread that writes it, and end it. */
static int try(const struct session_options *order, pid_t pid)
{
	struct session_options tried = *order;
	trace_id_t trace;
	int error;

	tried.pid = pid;
	tried.log = -1;
	tried.stream_policy = POSIX_TRACE_LOOP;
	error = create(&tried, 0, &trace);
	if (!error)
		posix_trace_shutdown(trace);
	return error;
}

/* EPERM may be about the process; or a filter refuses a system call, and then EPERM comes without the process, too. */
static bool is_call_refused(const struct session_options *order)
{
	return try(order, order->pid) == 0 || try(order, 0) == EPERM;
}

const char *session_error_text(int error)
{
	if (error == EPERM)
		return "a system call that streams need is not permitted: a system call filter (seccomp), or a "
		       "container";
	if (error == ENOSYS)
		return "a system call that streams need is missing: the kernel does not have it, or a system call "
		       "filter (seccomp) hides it";
	return strerror(error);
}

static bool is_limited(int resource, rlim_t least)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least;
}

#define TABLES_ROOM ((rlim_t)4 << 20) /* a segment has more than its rings */

const char *session_lack(size_t size)
{
	const char *own = getenv("TXTRACE_DIR");
	struct statvfs status;
	bool is_known = (own && *own && statvfs(own, &status) == 0) || statvfs("/dev/shm", &status) == 0;

	if (is_known && status.f_files > 0 && status.f_favail == 0)
		return "there are no inodes left in the shared memory";
	if (is_limited(RLIMIT_FSIZE, 2 * (rlim_t)size + TABLES_ROOM))
		return "the limit of the size of files (ulimit -f) has no room";
	if (is_known && (rlim_t)status.f_bavail * status.f_frsize >= 2 * (rlim_t)size &&
	    is_limited(RLIMIT_AS, RLIM_INFINITY))
		return "the limit of addresses (ulimit -v) has no room";
	return "there is no room in the shared memory";
}

static void report_failure(const struct session_options *order, int error)
{
	char why[SESSION_REFUSAL_BYTES], directory[DIRECTORY_REFUSAL_BYTES];

	if (directory_is_refused(geteuid(), directory)) {
		message("%s", directory);
		return;
	}
	if ((error == ESRCH || error == ENOMEM || error == EPERM) && session_is_refused(why)) {
		message("%s; a program can trace itself: see TXTRACE_OUT in libtxtrace-preload(7)", why);
		return;
	}
	switch (error) {
	case ESRCH:
		message("there is no process %d", (int)order->pid);
		break;
	case EPERM:
		if (is_call_refused(order))
			message("%s", session_error_text(error));
		else
			report_not_permitted(order->pid);
		break;
	case ENOSYS:
		message("%s", session_error_text(error));
		break;
	case EAGAIN:
		message("there are already %d streams; txtrace list shows them", TRACE_SYS_MAX);
		break;
	case ENOMEM:
		message("%s for rings of %zu bytes; txtrace doctor --self shows what there is room for",
			session_lack(order->stream_size), order->stream_size);
		break;
	case EACCES:
		message("a file in the directory for shared memory belongs to another user, or is damaged; see "
			"TXTRACE_DIR in posixtrace(7)");
		break;
	default:
		message_error(error, "cannot trace process %d", (int)order->pid);
	}
}

bool session_create(struct session_options *order, trace_id_t *trace)
{
	int error = create(order, order->largest_size, trace);
	size_t smaller;

	if ((error == ENOTSUP || error == ENOMEM) && order->largest_size > 0)
		error = create(order, 0, trace);
	if (error == ENOMEM)
		order->lack = session_lack(order->stream_size);
	while (error == ENOMEM && order->usual_size > 0 && (smaller = session_smaller_size(order->stream_size)) > 0) {
		order->stream_size = smaller;
		error = create(order, 0, trace);
	}
	if (error)
		report_failure(order, error);
	return error == 0;
}

void session_report_size(const struct session_options *order)
{
	if (order->stream_size < order->usual_size)
		message("%s for rings of %zu bytes, so they have %zu: events are lost more easily", order->lack,
			order->usual_size, order->stream_size);
}

/* Files. */

/* Give the file a temporary name, and return that name. If that fails, print a message and return NULL. */
static char *put_aside(const char *path)
{
	char *aside = NULL;
	int fd = asprintf(&aside, "%s.XXXXXX", path) < 0 ? -1 : mkostemp(aside, O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && rename(path, aside) == 0)
		return aside;
	message_error(errno, "cannot rename %s", path);
	if (fd >= 0)
		unlink(aside);
	free(aside);
	return NULL;
}

int session_open_log(const char *path, bool overwrites, char **aside)
{
	struct stat status;
	int fd;

	*aside = NULL;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		message("%s is a directory", path);
		return -1;
	}
	if (overwrites && lstat(path, &status) == 0) {
		if (!S_ISREG(status.st_mode)) {
			message("%s is not a regular file; it stays unchanged", path);
			return -1;
		}
		*aside = put_aside(path);
		if (!*aside)
			return -1;
	}
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0)
		return fd;
	if (errno == EEXIST)
		message("%s exists; --force overwrites it", path);
	else
		message_error(errno, "%s", path);
	if (*aside && link(*aside, path) == 0)
		unlink(*aside);
	free(*aside);
	*aside = NULL;
	return -1;
}

void session_keep_log(char **aside)
{
	if (*aside)
		unlink(*aside);
	free(*aside);
	*aside = NULL;
}

void session_drop_log(const char *path, char **aside)
{
	if (!*aside || rename(*aside, path) != 0)
		unlink(path);
	free(*aside);
	*aside = NULL;
}

/* Signals. */

static sigset_t mask_before;

int session_signals(int other)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (other)
		sigaddset(&set, other);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction action;

		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &set, &mask_before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		message_error(errno, "signalfd");
	return fd;
}

int session_next_signal(int fd, bool *is_sent)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	*is_sent = info.ssi_code != SI_KERNEL;
	return (int)info.ssi_signo;
}

void session_restore_signals(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int session_open_process(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && (errno == ESRCH || errno == EINVAL))
		message("there is no process %d", (int)pid);
	else if (fd < 0)
		message_error(errno, "process %d", (int)pid);
	return fd;
}

/* Numbers. */

bool session_parse_pid(const char *text, pid_t *pid)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number <= 0 || number > INT32_MAX) {
		message("%s is not a process id", text);
		return false;
	}
	*pid = (pid_t)number;
	return true;
}

size_t session_ring_size(bool preloads)
{
	size_t size = px_ring_size();

	return preloads || size < SESSION_STREAM_SIZE ? size : SESSION_STREAM_SIZE;
}

void session_settle_size(struct session_options *order, bool preloads)
{
	if (order->stream_size == 0)
		order->stream_size = order->usual_size = session_ring_size(preloads);
}

_Static_assert(SESSION_LEAST_SIZE == PX_RING_SIZE_HALVED, "the preloaded object and the tool do the same");

size_t session_smaller_size(size_t size)
{
	return px_ring_size_below(size);
}

bool session_parse_ring_size(const char *text, struct session_options *order)
{
	if (strcmp(text, "auto") != 0)
		return session_parse_size("--size", text, &order->stream_size);
	order->is_growth_asked = true;
	order->largest_size = ring_bound(2 * session_ring_size(true));
	return true;
}

bool session_parse_size(const char *option, const char *text, size_t *size)
{
	static const char suffixes[] = "kMG";
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	const char *suffix = *end ? strchr(suffixes, *end == 'K' ? 'k' : *end) : NULL;
	int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;

	if (end == text || *text == '-' || (suffix ? end[1] : end[0]) || number == 0 ||
	    number > SIZE_MAX >> 1 >> shift) {
		message("%s takes a number of bytes, such as 65536, 512k or 64M, not %s", option,
			text);
		return false;
	}
	*size = (size_t)number << shift;
	return true;
}
