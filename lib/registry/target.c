/* SPDX-License-Identifier: MIT */
#include "registry/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/procfs_maps.h"

/*
 * Values from /proc/<pid>/status.  Their lines come before the line with the groups, so the length of that line does
 * not matter.
 */
struct status {
	int leader;   /* pid of the thread group leader */
	uid_t uid[3]; /* real, effective and saved user */
};

static int read_status(pid_t pid, struct status *status)
{
	char path[48], text[4096];
	const char *at;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? ESRCH : errno;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return ESRCH; /* the process has ended */
	text[got] = '\0';
	at = strstr(text, "\nTgid:");
	if (!at || sscanf(at, "\nTgid: %d", &status->leader) != 1)
		return ESRCH;
	at = strstr(text, "\nUid:");
	if (!at ||
	    sscanf(at, "\nUid: %u %u %u", &status->uid[0], &status->uid[1], &status->uid[2]) != 3)
		return ESRCH;
	return 0;
}

static bool has_capability(unsigned int number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[number / 32].effective >> number % 32 & 1;
}

static bool is_of_same_user(const struct status *status)
{
	for (int i = 0; i < 3; i++)
		if (status->uid[i] != geteuid())
			return false;
	return true;
}

/*
 * Return true if the thread and this process are in the same namespace of this kind.  Then numbers have the same
 * meaning for both.
 */
static bool is_in_our_namespace(uint32_t tid, const char *space)
{
	char path[64], ours[64], other[64];
	ssize_t our_length, other_length;

	snprintf(path, sizeof(path), "/proc/%u/ns/%s", tid, space);
	other_length = readlink(path, other, sizeof(other));
	snprintf(path, sizeof(path), "/proc/thread-self/ns/%s", space);
	our_length = readlink(path, ours, sizeof(ours));
	if (our_length < 0)
		return true; /* the kernel has no such namespaces */
	return our_length == other_length && memcmp(ours, other, (size_t)our_length) == 0;
}

/*
 * Return AT_SECURE of a program, as the kernel set it at exec.  The program must have the same word size as this one.
 * Also return true if it cannot be read: it is empty if the thread has ended.
 */
static bool is_secure(uint32_t tid)
{
	unsigned long entry[64][2];
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/auxv", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	got = read(fd, entry, sizeof(entry));
	close(fd);
	for (ssize_t i = 0; (i + 1) * (ssize_t)sizeof(entry[0]) <= got; i++)
		if (entry[i][0] == AT_SECURE)
			return entry[i][1] != 0;
	return got <= 0;
}

/* Return true if the process would accept a segment that we create for it. */
static bool accepts_segments(uint32_t tid, const struct status *status)
{
	return status->uid[1] == geteuid() ||
	       (geteuid() == 0 && is_in_our_namespace(tid, "user") && !is_secure(tid));
}

/* A px_procfs_question.  Each check fails for a thread that has ended, so "no" is no answer. */
static int is_traceable(uint32_t tid, const void *status)
{
	return is_in_our_namespace(tid, "pid") && is_in_our_namespace(tid, "time") &&
			       is_in_our_namespace(tid, "ipc") && accepts_segments(tid, status) ?
		       0 :
		       -EAGAIN;
}

static int check_rights(pid_t pid, const struct status *status)
{
	if (!is_of_same_user(status) && !has_capability(CAP_SYS_PTRACE))
		return EPERM;
	return -px_procfs_ask((uint32_t)pid, is_traceable, status);
}

int px_target_find(pid_t pid, struct px_target *target)
{
	struct status status;
	uint32_t segment;
	int error;

	if (kill(pid, 0) != 0 && errno != EPERM)
		return ESRCH;
	error = read_status(pid, &status);
	if (error)
		return error;
	/*
	 * If only the first thread of the process has ended, do not refuse the process: other threads may continue.
	 * The first thread also ends if another thread calls exec.
	 */
	if (!px_procfs_is_same((uint32_t)pid, 0) || status.leader != pid)
		return ESRCH;
	error = check_rights(pid, &status);
	if (error)
		return error;
	target->uid = status.uid[1];
	target->id.pid = (uint32_t)pid;
	target->id.pid_namespace = px_procfs_pid_namespace();
	target->id.start = px_procfs_start((uint32_t)pid);
	if (target->id.start == 0)
		return ESRCH;
	error = px_procfs_segments((uint32_t)pid, &segment, 1); /* can we read its mappings? */
	return error < 0 ? -error : 0;
}
