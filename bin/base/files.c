/* SPDX-License-Identifier: MIT */
#include "base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

char *target_of(const char *path)
{
	struct stat status;
	char *target = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(path, NULL) : NULL;

	return target ?: strdup(path);
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
