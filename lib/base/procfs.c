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
#include "base/file_at.h"

#define MEMORY_ATTEMPTS 1000

#define EXITING 4 /* PF_EXITING, a flag in /proc/<pid>/stat */

#define STAT_BYTES 1024
#define PATH_BYTES 64

static int open_file(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

static void put_path(char path[PATH_BYTES], uint32_t pid, const char *name)
{
	strcpy(px_decimal_put(stpcpy(path, "/proc/"), pid), name);
}

static int open_proc(uint32_t pid, const char *name)
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

static uint64_t number_at(const char *at)
{
	uint64_t number = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

static uint64_t stat_start(const char *text)
{
	return number_at(stat_field(text, 22));
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
	if (!state || strchr("ZXx", *state) || number_at(stat_field(text, 9)) & EXITING)
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
	*parent = (uint32_t)number_at(stat_field(text, 4));
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

	return read_stat(pid, text) && number_at(stat_field(text, 20)) > 1;
}

bool px_procfs_is_same(uint32_t pid, uint64_t start)
{
	uint64_t now = px_procfs_start(pid);

	return (px_procfs_has(pid) || has_threads(pid)) && (start == 0 || now == 0 || now == start);
}

bool px_procfs_has_word(uint64_t word)
{
	return px_procfs_is_same((uint32_t)(word >> 42), word & ((UINT64_C(1) << 42) - 1));
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

uint32_t px_procfs_pid_namespace(void)
{
	return number_of_namespace("/proc/thread-self/ns/pid");
}

bool px_procfs_keeps_children(void)
{
	uint32_t own = px_procfs_pid_namespace();

	return own != 0 && number_of_namespace("/proc/thread-self/ns/pid_for_children") == own;
}

/*
 * Return true if the file contains `name`.  Read the file in pieces.  Keep the end of each piece,
 * because `name` may be split between two pieces.  If the file is empty, the thread has just ended,
 * so the answer is unknown: return true.
 */
static bool may_hold(int fd, const char *name)
{
	char text[4096 + 1];
	size_t kept = 0, length = strlen(name);
	bool found = false, is_empty = true;
	ssize_t got = 0;

	while (!found && (got = syscall(SYS_read, fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		text[kept + (size_t)got] = '\0';
		found = strstr(text, name) != NULL;
		is_empty = false;
		kept += (size_t)got;
		if (kept >= length) {
			memmove(text, text + kept - length + 1, length - 1);
			kept = length - 1;
		}
	}
	return found || is_empty || got < 0;
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
	int fd = open_proc(pid, "/task");
	uint32_t found = 0;
	long got;

	while (fd >= 0 && found == 0 &&
	       (got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (char *at = entries; at < entries + got && found == 0; at += entry->size) {
			uint32_t tid;

			entry = (void *)at;
			tid = (uint32_t)number_at(entry->name);
			found = tid != 0 && accepts(tid) ? tid : 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

uint32_t px_procfs_thread(uint32_t pid)
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
#ifdef SYS_newfstatat
	int saved_errno = errno;
	struct stat status;

	if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0) == 0 &&
	    status.st_nlink > 2)
		nr = (uint32_t)status.st_nlink - 2;
	errno = saved_errno;
#endif
	return nr;
}

int px_procfs_exit_status(void)
{
	char text[STAT_BYTES];

	return read_file((uint32_t)syscall(SYS_getpid), "/stat", text, STAT_BYTES) ?
		       (int)(number_at(stat_field(text, 52)) >> 8 & 0xFF) :
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
	       number_at(stat_field(other, 32)) != number_at(stat_field(own, 32));
}

bool px_procfs_has_different_threads(void)
{
	uint32_t pid = (uint32_t)syscall(SYS_getpid);

	return px_procfs_nr_threads() == 0 || find_thread(pid, differs_from_caller) != 0;
}

/*
 * Return true if the file is not empty.  Otherwise errno is the error of the read, or 0 if the file
 * is empty.
 */
static bool has_text(int fd)
{
	char first;
	long got;

	errno = 0;
	got = px_read_at(fd, &first, 1, 0);
	return got == 1;
}

/* Open the list of mappings of this thread.  Return a descriptor, or -errno; -ESRCH if the thread is exiting. */
static int open_thread_maps(uint32_t tid)
{
	int fd = open_proc(tid, "/maps");
	int error;

	if (fd >= 0 && has_text(fd))
		return fd;
	error = errno;
	if (fd >= 0)
		syscall(SYS_close, fd);
	return error == 0 || error == ENOENT ? -ESRCH : -error;
}

/*
 * Open the list of mappings of a process.  If the thread that has been asked is exiting, ask another one.  A thread
 * whose list is not there, and which is not exiting, is one of the kernel.  Return a descriptor, or -errno, as
 * px_procfs_segments() does.
 */
static int open_maps(uint32_t pid)
{
	uint32_t tid, asked = 0;
	int fd;

	for (int attempt = 0; attempt < MEMORY_ATTEMPTS; attempt++) {
		tid = px_procfs_thread(pid);
		if (tid == 0)
			return -ESRCH;
		if (tid == asked)
			return -EPERM;
		fd = open_thread_maps(tid);
		if (fd >= 0)
			PX_TESTPOINT("procfs.maps.opened");
		if (fd != -ESRCH)
			return fd == -EACCES ? -EPERM : fd;
		asked = tid;
	}
	return -EAGAIN;
}

/*
 * next_line() reads this file line by line.  It discards the end of a line that is too long for the buffer.  The lines
 * of interest are short.
 */
struct lines {
	int fd, repeats;
	ssize_t used, got;
	char text[4096];
	char line[512];
};

static void begin_maps(struct lines *lines, uint32_t pid)
{
	lines->used = lines->got = 0;
	lines->fd = open_maps(pid);
}

/*
 * Close the file.  Return true if the thread that has been asked ended before its list had been read, so that the
 * caller must begin again.
 */
static bool must_repeat_maps(struct lines *lines)
{
	if (lines->fd < 0)
		return false;
	syscall(SYS_close, lines->fd);
	if (lines->got >= 0)
		return false;
	lines->fd = -EAGAIN;
	return ++lines->repeats < MEMORY_ATTEMPTS;
}

static bool next_line(struct lines *lines)
{
	size_t length = 0;

	for (;;) {
		char c;

		if (lines->used == lines->got) {
			lines->got = syscall(SYS_read, lines->fd, lines->text, sizeof(lines->text));
			lines->used = 0;
			if (lines->got <= 0)
				return false;
		}
		c = lines->text[lines->used++];
		if (c == '\n')
			break;
		if (length < sizeof(lines->line) - 1)
			lines->line[length++] = c;
	}
	lines->line[length] = '\0';
	return true;
}

/* Return the field of a line of /proc/<pid>/maps with this number, counted from 0, or NULL. */
static const char *field_of(const char *line, int number)
{
	for (; line && number > 0; number--) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	return line;
}

/*
 * Return true if this line of /proc/<pid>/maps is for a System V segment, and set its id.  The
 * fields of the line are: address perms offset dev inode name.  For a System V segment the kernel
 * shows the id as the inode.
 */
static bool segment_of(const char *line, uint32_t *id)
{
	const char *at = strstr(line, " /SYSV") ? field_of(line, 4) : NULL;

	if (!at)
		return false;
	*id = (uint32_t)number_at(at);
	return true;
}

/*
 * Return the name of the file without its directory, if this line is for a shared mapping without any rights of a file
 * whose name begins with prefix.  Otherwise return NULL.
 */
static const char *file_of(const char *line, const char *prefix)
{
	const char *perms = field_of(line, 1);
	const char *name = strrchr(line, '/');

	if (!perms || strncmp(perms, "---s ", 5) != 0 || !name ||
	    strncmp(name + 1, prefix, strlen(prefix)) != 0)
		return NULL;
	return name + 1;
}

int px_procfs_segments(uint32_t pid, uint32_t id[], int max)
{
	int saved_errno = errno;
	struct lines lines = {.repeats = 0};
	int nr;

	do {
		nr = 0;
		begin_maps(&lines, pid);
		while (lines.fd >= 0 && nr < max && next_line(&lines))
			nr += segment_of(lines.line, &id[nr]);
	} while (must_repeat_maps(&lines));
	errno = saved_errno;
	return lines.fd < 0 ? lines.fd : nr;
}

bool px_procfs_has_segment(uint32_t pid, uint32_t id)
{
	int saved_errno = errno;
	struct lines lines = {.repeats = 0};
	bool has;

	do {
		uint32_t found;

		has = false;
		begin_maps(&lines, pid);
		while (lines.fd >= 0 && !has && next_line(&lines))
			has = segment_of(lines.line, &found) && found == id;
	} while (must_repeat_maps(&lines));
	errno = saved_errno;
	return has || lines.fd < 0;
}

bool px_procfs_file(uint32_t pid, const char *prefix, char *name, size_t size, uint64_t *inode)
{
	int saved_errno = errno;
	struct lines lines = {.repeats = 0};
	bool found;

	do {
		found = false;
		begin_maps(&lines, pid);
		while (lines.fd >= 0 && !found && next_line(&lines)) {
			const char *file = file_of(lines.line, prefix);

			if (!file || strlen(file) >= size ||
			    strchr(file, ' ')) /* deleted files have a space */
				continue;
			strcpy(name, file);
			*inode = number_at(field_of(lines.line, 4));
			found = true;
		}
	} while (must_repeat_maps(&lines));
	errno = saved_errno;
	return found;
}

bool px_procfs_maps(uint32_t pid, const char *name)
{
	int saved_errno = errno;
	int fd = open_maps(pid);
	bool maps = true;

	if (fd >= 0) {
		maps = may_hold(fd, name);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return maps;
}
