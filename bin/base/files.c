/* SPDX-License-Identifier: MIT */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* of which Linux follows one to the next */

char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t length_without_suffix(const char *path)
{
	const char *name = name_of(path);
	const char *point = strrchr(name, '.');

	return point && point != name ? (size_t)(point - path) : strlen(path);
}

static bool is_link(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Return the path to which a link leads, which need not exist, or NULL. */
static char *follow(const char *path)
{
	char *directory = directory_of(path), *next = NULL, to[PATH_MAX];
	ssize_t length = readlink(path, to, sizeof(to) - 1);

	to[length > 0 ? length : 0] = '\0';
	if (!directory || length <= 0 || asprintf(&next, "%s%s%s", to[0] == '/' ? "" : directory,
						  to[0] == '/' ? "" : "/", to) < 0)
		next = NULL;
	free(directory);
	return next;
}

char *target_of(const char *path)
{
	char *target = is_link(path) ? realpath(path, NULL) : NULL, *next;

	if (target)
		return target;
	target = strdup(path);
	for (int i = 0; i < LINKS_MAX && target && is_link(target) && (next = follow(target)); i++) {
		free(target);
		target = next;
	}
	return target;
}

const char *temporary_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && directory[0] ? directory : "/tmp";
}

bool is_same_file(const char *path, const char *other)
{
	struct stat one, two;

	return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

int may_access(const char *path, int mode)
{
	struct stat status;
	bool is_refused;
	int error;

	if (access(path, mode) == 0)
		return 0;
	error = errno;
	is_refused = access("/", F_OK) != 0 && (errno == ENOSYS || errno == EPERM);
	errno = error;
	if (!is_refused || stat(path, &status) != 0)
		return -1;
	if (!(mode & X_OK) || (status.st_mode & 0111) != 0)
		return 0;
	errno = EACCES;
	return -1;
}

int write_all(int fd, const void *bytes, size_t size)
{
	for (const char *at = bytes; size > 0;) {
		ssize_t written = write(fd, at, size);

		if (written >= 0) {
			at += written;
			size -= (size_t)written;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* open() returns the lowest descriptor that is closed. */
void hold_standard_files(void)
{
	const char *path = access("/dev/null", F_OK) == 0 ? "/dev/null" : "/"; /* some commands refuse directories */
	int fd;

	do
		fd = open(path, O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}
