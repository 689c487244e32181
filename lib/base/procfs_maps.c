/* SPDX-License-Identifier: MIT */
#include "base/procfs_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/decimal.h"
#include "base/file_at.h"
#include "base/procfs.h"

#define MEMORY_ATTEMPTS 1000

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

/* A px_procfs_question: open the list of mappings of this thread.  Return a descriptor, or -errno. */
static int open_thread_maps(uint32_t tid, const void *unused)
{
	int fd = px_procfs_open(tid, "/maps");
	int error;

	(void)unused;
	if (fd >= 0 && has_text(fd)) {
		PX_TESTPOINT("procfs.maps.opened");
		return fd;
	}
	error = errno;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (error == EACCES)
		return -EPERM;
	/* The list of a thread that has ended is empty or not there, and so is that of one of the kernel. */
	return error == 0 || error == ENOENT || error == ESRCH ? -EAGAIN : -error;
}

/* Open the list of mappings of a process.  Return a descriptor, or -errno, as px_procfs_segments() does. */
static int open_maps(uint32_t pid)
{
	return px_procfs_ask(pid, open_thread_maps, NULL);
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
	*id = (uint32_t)px_decimal_get(at);
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
			*inode = px_decimal_get(field_of(lines.line, 4));
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
