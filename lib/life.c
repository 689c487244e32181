/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "decimal.h"

#define STAT_BYTES 512

static int open_proc(uint32_t pid, const char *name)
{
	char path[48] = "/proc/";

	strcpy(px_decimal_put(path + strlen(path), pid), name);
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

/* /proc/<pid>/stat, without stdio, allocation or cancellation. */
static bool read_stat(uint32_t pid, char text[STAT_BYTES])
{
	int saved_errno = errno;
	int fd = open_proc(pid, "/stat");
	ssize_t got = -1;

	if (fd >= 0) {
		got = syscall(SYS_read, fd, text, STAT_BYTES - 1);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

/* Field n (3 is the state); the command in field 2 may hold anything, so count from its end. */
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
	const char *at = stat_field(text, 22);
	uint64_t start = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		start = start * 10 + (uint64_t)(*at - '0');
	return start;
}

/* Only what the kernel says is a proof: there may be no /proc, or no descriptor. */
static bool kernel_knows(uint32_t tid)
{
	int saved_errno = errno;
	bool is_known = kill((pid_t)tid, 0) == 0 || errno != ESRCH;

	errno = saved_errno;
	return is_known;
}

enum px_life px_life_of(uint32_t tid)
{
	char text[STAT_BYTES];
	const char *state;

	if (!read_stat(tid, text))
		return kernel_knows(tid) ? PX_LIFE_RUNNING : PX_LIFE_GONE;
	state = stat_field(text, 3);
	if (!state || strchr("ZXx", *state))
		return PX_LIFE_GONE;
	return strchr("Tt", *state) ? PX_LIFE_STOPPED : PX_LIFE_RUNNING;
}

uint64_t px_life_start(uint32_t pid)
{
	char text[STAT_BYTES];

	return read_stat(pid, text) ? stat_start(text) : 0;
}

bool px_life_has(uint32_t tid)
{
	return px_life_of(tid) != PX_LIFE_GONE;
}

bool px_life_is_same(uint32_t pid, uint64_t start)
{
	uint64_t now = px_life_start(pid);

	return px_life_has(pid) && (start == 0 || now == 0 || now == start);
}

/* The link reads pid:[4026531836]. */
uint32_t px_life_pid_namespace(void)
{
	char text[32];
	int saved_errno = errno;
	long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/pid", text, sizeof(text));
	uint32_t number = 0;

	for (long i = 0; i < got; i++)
		if (text[i] >= '0' && text[i] <= '9')
			number = number * 10 + (uint32_t)(text[i] - '0');
	errno = saved_errno;
	return number;
}

/* One line at a time would need a buffer for the longest; instead the end of a piece is kept. */
static bool holds(int fd, const char *name)
{
	char text[4096 + 1];
	size_t kept = 0, length = strlen(name);
	bool found = false;
	ssize_t got;

	while (!found && (got = syscall(SYS_read, fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		text[kept + (size_t)got] = '\0';
		found = strstr(text, name) != NULL;
		kept += (size_t)got;
		if (kept >= length) {
			memmove(text, text + kept - length + 1, length - 1);
			kept = length - 1;
		}
	}
	return found;
}

bool px_life_maps(uint32_t pid, const char *name)
{
	int saved_errno = errno;
	int fd = open_proc(pid, "/maps");
	bool maps = true;

	if (fd >= 0) {
		maps = holds(fd, name);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return maps;
}
