/* SPDX-License-Identifier: MIT */
#include "base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/confined.h"
#include "base/decimal.h"
#include "base/kernel_time.h"

#define EXITING 4 /* PF_EXITING, a flag in /proc/<pid>/stat */

#define STAT_BYTES 1024
#define STATUS_BYTES 4096
#define PATH_BYTES 64

/* For px_procfs_ask(): threads in all, times that one is asked, and the pause before it is asked again. */
#define ATTEMPTS 1000
#define ATTEMPTS_FOR_ONE 10
#define PAUSE_NS 1000000

static int open_file(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

static void put_path(char path[PATH_BYTES], uint32_t pid, const char *name)
{
	strcpy(px_decimal_put(stpcpy(path, "/proc/"), pid), name);
}

int px_procfs_open(uint32_t pid, const char *name)
{
	char path[PATH_BYTES];

	put_path(path, pid, name);
	return open_file(path);
}

/* Read a file without stdio, allocation or cancellation points.  The text gets a null. */
static bool read_path(const char *path, char *text, size_t size)
{
	int saved_errno = errno;
	int fd = open_file(path);
	ssize_t got = -1;

	if (fd >= 0) {
		got = syscall(SYS_read, fd, text, size - 1);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

int px_procfs_check(void)
{
	int saved_errno = errno;
	int fd = open_file("/proc/self/stat"), error = fd < 0 ? errno : 0;

	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = saved_errno;
	return error;
}

static bool read_file(uint32_t pid, const char *name, char *text, size_t size)
{
	char path[PATH_BYTES];

	put_path(path, pid, name);
	return read_path(path, text, size);
}

static bool read_task_file(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
	char path[PATH_BYTES], *end;

	put_path(path, pid, "/task/");
	end = px_decimal_put(path + strlen(path), tid);
	*end = '/';
	strcpy(end + 1, name);
	return read_path(path, text, size);
}

bool px_procfs_task_line(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
	if (!read_task_file(pid, tid, name, text, size))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	return *text != '\0';
}

/*
 * Read the line of the main thread: what this file needs of it is the same as in the line of the process.  qemu-user
 * invents the line of the process that asks, with another start time than all others see.
 */
static bool read_stat(uint32_t pid, char text[STAT_BYTES])
{
	return read_task_file(pid, pid, "stat", text, STAT_BYTES);
}

size_t px_procfs_title(uint32_t pid, char *title, size_t size)
{
	size_t length, first;

	if (!read_file(pid, "/cmdline", title, size))
		return 0;
	length = strlen(title);
	while (length > 0 && title[length - 1] == ' ')
		length--;
	title[length] = '\0';
	first = strcspn(title, " ");
	return first > 0 && first < length && !memchr(title, '/', first) ? length : 0;
}

/*
 * Return the start of field n (3 is the state).  The command in field 2 may contain any character,
 * so count the fields from the end of the command.
 */
static const char *stat_field(const char *text, int n)
{
	const char *at = strrchr(text, ')');

	for (; at && n > 2; n--) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	return at;
}

static uint64_t stat_start(const char *text)
{
	return px_decimal_get(stat_field(text, 22));
}

/* Without /proc or a free descriptor, only kill() can show that a thread is gone. */
static bool kernel_knows(uint32_t tid)
{
	int saved_errno = errno;
	bool is_known = kill((pid_t)tid, 0) == 0 || errno != ESRCH;

	errno = saved_errno;
	return is_known;
}

enum px_procfs px_procfs_of(uint32_t tid)
{
	char text[STAT_BYTES];
	const char *state;

	if (px_unlikely(px_is_confined()))
		return PX_PROCFS_RUNNING;
	if (!read_stat(tid, text))
		return kernel_knows(tid) ? PX_PROCFS_RUNNING : PX_PROCFS_GONE;
	state = stat_field(text, 3);
	if (!state || strchr("ZXx", *state) || px_decimal_get(stat_field(text, 9)) & EXITING)
		return PX_PROCFS_GONE;
	return strchr("Tt", *state) ? PX_PROCFS_STOPPED : PX_PROCFS_RUNNING;
}

uint64_t px_procfs_start(uint32_t pid)
{
	char text[STAT_BYTES];

	return read_stat(pid, text) ? stat_start(text) : 0;
}

bool px_procfs_parent(uint32_t pid, uint32_t *parent, uint64_t *start)
{
	char text[STAT_BYTES];

	if (!read_stat(pid, text))
		return false;
	*parent = (uint32_t)px_decimal_get(stat_field(text, 4));
	*start = stat_start(text);
	return true;
}

uint64_t px_procfs_now(void)
{
	struct timespec now = {0, 0};
	long ticks = sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)ticks +
	       (uint64_t)now.tv_nsec / (1000000000 / (uint64_t)ticks);
}

bool px_procfs_has(uint32_t tid)
{
	return px_procfs_of(tid) != PX_PROCFS_GONE;
}

/*
 * Return true if the process has more than one thread.  If its first thread has ended, the others continue, although
 * /proc/<pid>/stat shows a zombie.
 */
static bool has_threads(uint32_t pid)
{
	char text[STAT_BYTES];

	return read_stat(pid, text) && px_decimal_get(stat_field(text, 20)) > 1;
}

/* The link target has the form pid:[4026531836]. */
static uint32_t number_of_namespace(const char *path)
{
	char text[32];
	int saved_errno = errno;
	long got = syscall(SYS_readlinkat, AT_FDCWD, path, text, sizeof(text));
	uint32_t number = 0;

	for (long i = 0; i < got; i++)
		if (text[i] >= '0' && text[i] <= '9')
			number = number * 10 + (uint32_t)(text[i] - '0');
	errno = saved_errno;
	return number;
}

/* Return false if this is unknown. */
static bool is_in_other_time_namespace(uint32_t pid)
{
	char path[PATH_BYTES];
	uint32_t own = number_of_namespace("/proc/thread-self/ns/time"), other;

	put_path(path, pid, "/ns/time");
	other = number_of_namespace(path);
	return own != 0 && other != 0 && other != own;
}

bool px_procfs_is_same(uint32_t pid, uint64_t start)
{
	uint64_t now = px_procfs_start(pid);

	return (px_procfs_has(pid) || has_threads(pid)) &&
	       (start == 0 || now == 0 || now == start || is_in_other_time_namespace(pid));
}

bool px_procfs_has_word(uint64_t word)
{
	return px_procfs_is_same((uint32_t)(word >> 42), word & ((UINT64_C(1) << 42) - 1));
}

bool px_procfs_is_filtered(void)
{
	char text[STATUS_BYTES];

	return !read_path("/proc/self/status", text, sizeof(text)) || !strstr(text, "\nSeccomp:\t0\n");
}

uint32_t px_procfs_pid_namespace(void)
{
	return number_of_namespace("/proc/thread-self/ns/pid");
}

bool px_procfs_keeps_children(void)
{
	uint32_t own = px_procfs_pid_namespace();

	return own != 0 && number_of_namespace("/proc/thread-self/ns/pid_for_children") == own;
}

/* Return the first thread of the process for which `accepts` returns true, or 0. */
static uint32_t find_thread(uint32_t pid, bool (*accepts)(uint32_t tid))
{
	struct {
		uint64_t inode, offset;
		uint16_t size;
		uint8_t type;
		char name[];
	} __attribute__((packed)) * entry;
	char entries[2048];
	int fd = px_procfs_open(pid, "/task");
	uint32_t found = 0;
	long got;

	while (fd >= 0 && found == 0 &&
	       (got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (char *at = entries; at < entries + got && found == 0; at += entry->size) {
			uint32_t tid;

			entry = (void *)at;
			tid = (uint32_t)px_decimal_get(entry->name);
			found = tid != 0 && accepts(tid) ? tid : 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

/* Return the id of a thread of this process that has not ended, or 0 if there is none.  Prefer the first thread. */
static uint32_t thread_of(uint32_t pid)
{
	uint32_t tid = 0;

	/*
	 * Try twice: a thread that calls exec takes over the id of the first thread and loses its
	 * own.
	 */
	for (int attempt = 0; attempt < 2 && tid == 0; attempt++)
		tid = px_procfs_has(pid) ? pid : find_thread(pid, px_procfs_has);
	return tid;
}

int px_procfs_ask(uint32_t pid, px_procfs_question *ask, const void *data)
{
	const struct px_kernel_time pause = {.nanoseconds = PAUSE_NS};
	int saved_errno = errno, answer = -EAGAIN;
	uint32_t tid, asked = 0;

	for (int same = 0, i = 0; i < ATTEMPTS && answer == -EAGAIN; i++) {
		tid = thread_of(pid);
		same = tid == asked ? same + 1 : 0;
		if (same > 0)
			px_kernel_sleep(&pause);
		PX_TESTPOINT("procfs.thread.found");
		if (tid == 0)
			answer = -ESRCH;
		else if (same == ATTEMPTS_FOR_ONE)
			answer = -EPERM;
		else
			answer = ask(tid, data);
		asked = tid;
		if (answer == -EAGAIN)
			PX_TESTPOINT("procfs.thread.silent");
	}
	errno = saved_errno;
	return answer;
}

/* The link is missing if the thread has released its memory, or if /proc is not mounted. */
bool px_procfs_may_miss_first_thread(void)
{
	int saved_errno = errno;
	char text[1];
	bool is_missing = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, 1) == -1 &&
			  errno == ENOENT;

	errno = saved_errno;
	return is_missing;
}

/* The link count of the directory is the number of threads plus 2, because every directory has two links of its own. */
uint32_t px_procfs_nr_threads(void)
{
	uint32_t nr = 0;
	int saved_errno = errno;
#ifdef SYS_newfstatat
	struct stat status;

	if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0) == 0 &&
	    status.st_nlink > 2)
		nr = (uint32_t)status.st_nlink - 2;
#else
	/* Other machines have this call in several forms, and statx() in one. */
	struct statx status;

	if (syscall(SYS_statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &status) == 0 &&
	    status.stx_nlink > 2)
		nr = status.stx_nlink - 2;
#endif
	errno = saved_errno;
	return nr;
}

int px_procfs_exit_status(void)
{
	char text[STAT_BYTES];

	return read_file((uint32_t)syscall(SYS_getpid), "/stat", text, STAT_BYTES) ?
		       (int)(px_decimal_get(stat_field(text, 52)) >> 8 & 0xFF) :
		       0;
}

/* Return true if this thread has not ended, and differs from the calling thread in its name or its signal mask. */
static bool differs_from_caller(uint32_t tid)
{
	char other[STAT_BYTES], own[STAT_BYTES];
	const char *name, *own_name;
	size_t length;

	if (px_procfs_of(tid) == PX_PROCFS_GONE)
		return false;
	if (!read_stat(tid, other) || !read_stat((uint32_t)syscall(SYS_gettid), own))
		return true;
	name = strchr(other, '(');
	own_name = strchr(own, '(');
	if (!name || !own_name || !strrchr(own, ')'))
		return true;
	length = (size_t)(strrchr(own, ')') + 1 - own_name);
	return strncmp(name, own_name, length) != 0 || name[length] != ' ' ||
	       px_decimal_get(stat_field(other, 32)) != px_decimal_get(stat_field(own, 32));
}

bool px_procfs_has_different_threads(void)
{
	uint32_t pid = (uint32_t)syscall(SYS_getpid);

	return px_procfs_nr_threads() == 0 || find_thread(pid, differs_from_caller) != 0;
}

/* A line of /proc/<pid>/status, as far as it is needed: what begins with one of these tells what a thread may do. */
struct rights_line {
	char begin[20];
	size_t length;
	bool is_ours;
};

static bool tells_rights(const char *begin)
{
	static const char keys[][4] = {"Uid", "Gid", "Gro", "Cap", "NoN", "Sec"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (memcmp(begin, keys[i], 3) == 0)
			return true;
	return false;
}

static void take_character(struct rights_line *line, char character)
{
	if (line->length < sizeof(line->begin) - 1)
		line->begin[line->length] = character;
	if (++line->length == 3)
		line->is_ours = tells_rights(line->begin);
}

static bool begins_with(const struct rights_line *line, const char *text)
{
	return line->length >= strlen(text) && memcmp(line->begin, text, strlen(text)) == 0;
}

/*
 * Return a hash of what a thread may do, or 0 if it is unknown.  The list of groups may have any length, and a signal
 * handler may call this on a small stack, so do not keep the text.  Before Linux 5.9 nothing tells whether two threads
 * have the same filters.
 */
static uint64_t hash_rights(uint32_t tid)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	struct rights_line line = {.length = 0};
	bool has_filters = false, has_number = false;
	char path[PATH_BYTES], part[256];
	ssize_t got;
	int fd;

	strcpy(px_decimal_put(stpcpy(path, "/proc/self/task/"), tid), "/status");
	fd = open_file(path);
	if (fd < 0)
		return 0;
	while ((got = syscall(SYS_read, fd, part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			take_character(&line, part[i]);
			if (line.is_ours)
				hash = (hash ^ (unsigned char)part[i]) * UINT64_C(0x100000001b3);
			if (part[i] != '\n')
				continue;
			has_filters |= begins_with(&line, "Seccomp:\t2");
			has_number |= begins_with(&line, "Seccomp_filters:");
			line = (struct rights_line){.length = 0};
		}
	syscall(SYS_close, fd);
	return got < 0 || (has_filters && !has_number) ? 0 : hash;
}

bool px_procfs_has_other_rights(uint32_t tid)
{
	int saved_errno = errno;
	uint64_t own = hash_rights((uint32_t)syscall(SYS_gettid));
	bool has_other = own == 0 || hash_rights(tid) != own;

	errno = saved_errno;
	return has_other;
}
